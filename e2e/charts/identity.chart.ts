import { readFileSync } from 'node:fs'
import path from 'node:path'
import { isProtectedKey } from '@k8s-cloud-tagger/shared/providers/aws/protected-keys.ts'
import { expect } from 'chai'
import type { RenderedObject, RenderOptions } from './helm.ts'
import { identityValues, render, renderWith } from './identity-renders.ts'
import { at, podAccounts, roleOf, textsIn, trustedAccounts } from './identity.ts'
import { chartTools, type ChartTools } from './tools.ts'

/** Names as they come: short, long to the limit, with the chart's name in them, with digits and dots. */
const releases = ['t', 'tagger', 'k8s-cloud-tagger', 'my-k8s-cloud-tagger-2', 'a'.repeat(53), `r${'-x'.repeat(26)}`]
const namespaces = ['default', 'kube-system', 'n'.repeat(63), 'a1-b2']
const accountSettings: readonly (readonly string[])[] = [
  [],
  ['serviceAccount.name=tagger'],
  ['webhook.serviceAccount.name=w.1,reconciler.serviceAccount.name=r.1'],
  ['serviceAccount.create=false,serviceAccount.name=theirs'],
  ['webhook.enabled=false'],
  ['reconciler.enabled=false', 'nameOverride=disk-tags'],
  ['fullnameOverride=k8s-cloud-tagger', 'namespaceOverride=elsewhere'],
  ['webhook.serviceAccount.name=k8s-cloud-tagger'],
]
const combinations: readonly RenderOptions[] = releases.flatMap((release, index) =>
  accountSettings.map((set, other) => ({
    release,
    namespace: namespaces[(index + other) % namespaces.length] ?? '',
    set,
  })),
)

const stacks = ['ack', 'pod-identity', 'config-connector', 'config-connector-account', 'service-operator']

describe('identities in the cloud', () => {
  let tools: ChartTools
  before('has the tools', async () => {
    tools = await chartTools()
  })

  for (const stack of stacks) {
    it(`trust whom the pods run as, and nobody else, whatever release, namespace and accounts are called: ${stack}`, async () => {
      expect(combinations.length).to.be.at.least(30)
      for (const options of combinations) {
        const objects = await render(tools, { ...options, values: [identityValues(stack)] })

        const accounts = podAccounts(objects)
        expect(trustedAccounts(objects), JSON.stringify(options)).to.deep.equal(accounts)
      }
    })
  }

  it('keep the accounts of each program where only one role trusts them', async () => {
    const objects = await render(tools, { values: [identityValues('ack')] })

    expect(podAccounts(objects)).to.have.length(2)
    const role = roleOf(objects)
    const arn = 'arn:aws:iam::012345678901:role/prod-eu-1-tagger-k8s-cloud-tagger'
    expect(at(role, 'spec', 'name')).to.equal('prod-eu-1-tagger-k8s-cloud-tagger')
    for (const account of objects.filter(({ kind }) => kind === 'ServiceAccount')) {
      expect(account.metadata.annotations).to.include({ 'eks.amazonaws.com/role-arn': arn })
    }
  })

  it('let the role tag volumes of its account, and write no key that the programs protect', async () => {
    const { patterns, write } = policyOf(await render(tools, { values: [identityValues('ack')] }))

    expect(write).to.deep.include({
      Action: ['ec2:CreateTags', 'ec2:DeleteTags'],
      Resource: 'arn:aws:ec2:*:012345678901:volume/*',
    })
    // Without it, a DeleteTags without keys would pass, and that deletes every tag.
    expect(at(write, 'Condition', 'Null', 'aws:TagKeys')).to.equal('false')
    for (const key of [
      'Name',
      'KubernetesCluster',
      'CSIVolumeName',
      'kubernetes.io/created-for',
      'ebs.csi.aws.com/cluster',
    ]) {
      expect([isProtectedKey(key), allows(patterns, key)], key).to.deep.equal([true, false])
    }
    for (const key of ['team', 'app.kubernetes.io/name', 'name', 'my-eks:x']) {
      expect([isProtectedKey(key), allows(patterns, key)], key).to.deep.equal([false, true])
    }
    // Whatever the policy refuses, the programs refuse; and the other way round, but for what AWS itself refuses.
    const samples = patterns.map((pattern) => pattern.replace('*', 'anything'))
    expect(samples.filter((key) => !isProtectedKey(key))).to.deep.equal([])
  })

  it('are what the page on AWS says', async () => {
    const page = readFileSync(path.join(import.meta.dirname, '..', '..', 'docs', 'aws.md'), 'utf8')
    const [trust = '', policy = ''] = [...page.matchAll(/```json\n([\s\S]*?)```/gu)].map(([, json = '']) => json)

    const more = { aws: { controllersKubernetes: { accountId: '123456789012' } } }
    const options = { release: 'k8s-cloud-tagger', namespace: 'k8s-cloud-tagger', values: [identityValues('ack')] }
    const role = roleOf(await renderWith(tools, more, options))

    expect(JSON.parse(trust)).to.deep.equal(JSON.parse(String(at(role, 'spec', 'assumeRolePolicyDocument'))))
    expect(JSON.parse(policy)).to.deep.equal(
      JSON.parse(String(at(role, 'spec', 'inlinePolicies', 'ebs-tagging-policy'))),
    )
  })

  it('let the role write what the config lets the programs write', async () => {
    const { patterns, write } = policyOf(await render(tools, { values: [identityValues('ack-full')] }))

    expect(allows(patterns, 'Name')).to.equal(true)
    expect(allows(patterns, 'ebs.csi.aws.com/mine')).to.equal(true)
    expect(allows(patterns, 'KubernetesCluster')).to.equal(false)
    expect(at(write, 'Resource')).to.equal('arn:aws-cn:ec2:*:123456789012:volume/*')
    expect(at(write, 'Condition', 'StringEquals')).to.deep.equal({
      'aws:ResourceTag/kubernetes.io/cluster/prod': 'owned',
    })
  })
})

interface Policy {
  readonly write: unknown
  /** Of keys that cannot be written. */
  readonly patterns: readonly string[]
}

function policyOf(objects: readonly RenderedObject[]): Policy {
  const role = roleOf(objects)
  const document: unknown = JSON.parse(String(at(role, 'spec', 'inlinePolicies', 'ebs-tagging-policy')))
  const write = at(document, 'Statement', 1)
  return {
    write,
    patterns: textsIn(at(write, 'Condition', 'ForAllValues:StringNotLike', 'aws:TagKeys')),
  }
}

/** As IAM reads StringNotLike with several values: the key is like none of them. */
function allows(patterns: readonly string[], key: string): boolean {
  return !patterns.some((pattern) => (pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern))
}
