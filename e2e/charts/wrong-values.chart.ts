import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { HelmError, type Helm } from './helm.ts'
import { chartTools, type ChartTools } from './tools.ts'

interface WrongValues {
  readonly when: string
  readonly values: object
  /** What the refusal has to name; `/` and `.` as separators of a path are taken for each other. */
  readonly names: readonly string[]
}

const cases: readonly WrongValues[] = [
  { when: 'a key is misspelt', values: { replicas: 2 }, names: ['replicas'] },
  { when: 'a key of a program is misspelt', values: { webhook: { replica: 2 } }, names: ['webhook', 'replica'] },
  {
    when: 'a key of the config is misspelt',
    values: { config: { clustername: 'x' } },
    names: ['config', 'clustername'],
  },
  {
    when: 'a key deep in the config is misspelt',
    values: { config: { tags: { labels: { includes: ['*'] } } } },
    names: ['config/tags/labels', 'includes'],
  },
  { when: 'a cloud is unknown', values: { cloudProvider: 'ibm' }, names: ['cloudProvider'] },
  {
    when: 'the config names an unknown cloud',
    values: { config: { cloudProvider: 'ibm' } },
    names: ['config/cloudProvider'],
  },
  {
    when: 'two clouds are named',
    values: { cloudProvider: 'aws', config: { cloudProvider: 'gcp' } },
    names: ['cloudProvider: aws', 'config.cloudProvider: gcp'],
  },
  {
    when: 'two cluster names are given',
    values: { clusterName: 'a', config: { clusterName: 'b' } },
    names: ['clusterName: a', 'config.clusterName: b'],
  },
  ...['success', 'notReady', 'error'].map((key) => ({
    when: `requeue.${key} is said twice, and differently`,
    values: { requeue: { [key]: '7m' }, config: { requeue: { [key]: '8m' } } },
    names: [`requeue.${key}: 7m`, `config.requeue.${key}: 8m`],
  })),
  { when: 'a duration has no unit', values: { requeue: { success: '300' } }, names: ['requeue/success'] },
  {
    when: 'a duration is a number',
    values: { config: { reconciler: { headStart: 10 } } },
    names: ['config/reconciler/headStart'],
  },
  {
    when: 'there are too many processes',
    values: { reconciler: { replicaCount: -1 } },
    names: ['reconciler/replicaCount'],
  },
  { when: 'a port is none', values: { config: { webhook: { port: 70_000 } } }, names: ['config/webhook/port'] },
  { when: 'a switch is a word', values: { webhook: { enabled: 'sometimes' } }, names: ['webhook/enabled'] },
  { when: 'a digest is short', values: { image: { digest: 'sha256:abc' } }, names: ['image/digest'] },
  { when: 'a pull policy is unknown', values: { image: { pullPolicy: 'Sometimes' } }, names: ['image/pullPolicy'] },
  { when: 'an annotation is a number', values: { podAnnotations: { a: 1 } }, names: ['podAnnotations/a'] },
  { when: 'a label cannot be one', values: { commonLabels: { a: 'b c' } }, names: ['commonLabels/a'] },
  { when: 'a name cannot be one', values: { fullnameOverride: 'Tagger' }, names: ['fullnameOverride'] },
  {
    when: 'a failure policy is unknown',
    values: { webhook: { failurePolicy: 'Retry' } },
    names: ['webhook/failurePolicy'],
  },
  {
    when: 'the webhook has too much time',
    values: { webhook: { timeoutSeconds: 31 } },
    names: ['webhook/timeoutSeconds'],
  },
  {
    when: 'the mutating webhook shall see deletions',
    values: { webhook: { mutating: { operations: ['DELETE'] } } },
    names: ['webhook/mutating/operations'],
  },
  {
    when: 'certificates come from nowhere',
    values: { certificates: { mode: 'self-signed' } },
    names: ['certificates/mode'],
  },
  {
    when: 'a lifetime has days, which Go does not know',
    values: { certificates: { certManager: { duration: '90d' } } },
    names: ['certificates/certManager/duration'],
  },
  {
    when: 'an issuer has no name',
    values: { certificates: { certManager: { issuerRef: { kind: 'ClusterIssuer' } } } },
    names: ['certificates/certManager/issuerRef'],
  },
  { when: 'a Secret has no name', values: { certificates: { mode: 'secret' } }, names: ['certificates.secret'] },
  {
    when: "a Secret's CA is missing",
    values: { certificates: { mode: 'secret', secret: { name: 'tls' } } },
    names: ['certificates.secret.caBundle', 'certificates.secret.injectCA'],
  },
  {
    when: 'a CA is given and injected',
    values: { certificates: { mode: 'secret', secret: { name: 'tls', caBundle: 'QQ==', injectCA: true } } },
    names: ['certificates.secret.caBundle', 'certificates.secret.injectCA'],
  },
  {
    when: 'a CA is PEM as it is',
    values: { certificates: { mode: 'secret', secret: { name: 'tls', caBundle: '-----BEGIN CERTIFICATE-----' } } },
    names: ['certificates/secret/caBundle'],
  },
  {
    when: 'nothing runs',
    values: { webhook: { enabled: false }, reconciler: { enabled: false } },
    names: ['webhook.enabled', 'reconciler.enabled'],
  },
  {
    when: 'the config denies a program that runs',
    values: { config: { webhook: { enabled: false } } },
    names: ['webhook.enabled', 'config.webhook.enabled'],
  },
  {
    when: 'an account is neither made nor named',
    values: { serviceAccount: { create: false } },
    names: ['webhook.serviceAccount.name'],
  },
  {
    when: "the webhook would take the kubelet's port",
    values: { webhook: { hostNetwork: true } },
    names: ['config.webhook.port', '10250'],
  },
  {
    when: 'everything would be read twice',
    values: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } },
    names: ['serviceMonitor.enabled', 'podMonitor.enabled'],
  },
  {
    when: 'an alert that is left out does not exist',
    values: { prometheusRule: { enabled: true, disabledAlerts: ['NoSuchAlert'] } },
    names: ['prometheusRule.disabledAlerts', 'NoSuchAlert'],
  },
]

describe('wrong values are refused, by name', () => {
  let tools: ChartTools
  before('has the tools', async () => {
    tools = await chartTools()
  })

  for (const { when, values, names } of cases) {
    it(`when ${when}`, async () => {
      const file = path.join(tools.scratch, 'wrong.yaml')
      await writeFile(file, stringify(values))

      for (const helm of [tools.helm4, tools.helm3]) {
        const refusal = await refusalOf(helm, file)
        for (const name of names) expect(plain(refusal), helm.name).to.include(plain(name))
      }
    })
  }
})

async function refusalOf(helm: Helm, values: string): Promise<string> {
  try {
    await helm.render({ values: [values] })
  } catch (error) {
    if (error instanceof HelmError) return error.message
    throw error
  }
  return expect.fail(`${helm.name} rendered it`)
}

/** The one Helm separates the parts of a path by dots, the other by slashes. */
function plain(text: string): string {
  return text.replaceAll('/', '.')
}
