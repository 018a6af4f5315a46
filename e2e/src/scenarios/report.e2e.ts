import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Ec2Fake, fakeCredentials } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { expect } from 'chai'
import { parseAllDocuments, stringify } from 'yaml'
import type { ClusterReport } from '@k8s-cloud-tagger/report/src/cluster-report.ts'
import { setUpCluster } from '../cluster-setup.ts'
import type { Cluster } from '../cluster.ts'
import { writeTokenKubeconfig } from '../kubeconfig.ts'
import type { KubeObject } from '../kube-objects.ts'
import { region } from '../product.ts'
import { startProgram } from '../processes.ts'
import { scenarioFolder } from '../scenario-folder.ts'
import { startCluster } from '../start-cluster.ts'
import { ebsVolumeId, gp3, newClaim, provisionVolume } from '../volumes.ts'

const root = path.join(import.meta.dirname, '..', '..', '..')
const command = path.join(root, 'dist', 'k8s-cloud-tagger.js')
const namespace = 'e2e-report'
const account = { namespace: 'k8s-cloud-tagger', name: 'k8s-cloud-tagger-report' }
const user = `system:serviceaccount:${account.namespace}:${account.name}`

/** The rights as the docs give them to users: the first YAML block after the heading. */
async function documentedRights(): Promise<readonly KubeObject[]> {
  const text = await readFile(path.join(root, 'docs', 'report.md'), 'utf8')
  const [, block = ''] = /## Rights[\s\S]*?```yaml\n([\s\S]*?)```/u.exec(text) ?? []
  return parseAllDocuments(block).map((document) => document.toJS() as KubeObject)
}

describe('the report on a real control plane', () => {
  let dir: string
  let cluster: Cluster
  let ec2: Ec2Fake
  let kubeconfig: string
  let configPath: string
  let runs = 0

  before('starts', async () => {
    dir = scenarioFolder('report')
    cluster = await startCluster({ dir, kcmQps: 500, kcmBurst: 1000 })
    await setUpCluster(cluster, { dir })
    await cluster.kube.apply(gp3, ...(await documentedRights()))
    await cluster.kube.createNamespace(namespace, { 'cost-center': 'cc-1' })
    ec2 = await Ec2Fake.start({ requireSignature: true })
    kubeconfig = path.join(dir, 'report.kubeconfig')
    const token = await cluster.kube.serviceAccountToken(account)
    await writeTokenKubeconfig(kubeconfig, { url: cluster.url, caPem: cluster.caPem, user: account.name, token })
    configPath = path.join(dir, 'report.yaml')
    const config = {
      cloudProvider: 'aws',
      clusterName: 'e2e',
      aws: { region, endpoint: ec2.url },
      tags: { namespaceLabels: { include: ['cost-center'] } },
    }
    await writeFile(configPath, stringify(config))
  })

  after('stops', async () => {
    await ec2?.close()
    await cluster?.stop()
  })

  async function report(...args: readonly string[]): Promise<{ code: number | undefined; report: ClusterReport }> {
    const file = path.join(dir, `report-${++runs}.json`)
    const process = await startProgram({
      name: 'report',
      entry: command,
      args: ['report', '--file', file, ...args],
      env: {
        CONFIG_PATH: configPath,
        KUBECONFIG: kubeconfig,
        AWS_ACCESS_KEY_ID: fakeCredentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: fakeCredentials.secretAccessKey,
      },
      logFile: path.join(dir, `report-${runs}.log`),
    })
    const { code } = await process.exited
    return { code, report: JSON.parse(await readFile(file, 'utf8')) as ClusterReport }
  }

  async function boundClaim(name: string, labels: Record<string, string>, tags: Record<string, string> = {}) {
    const { kube } = cluster
    const pending = await kube.claims.create(newClaim(name, { namespace, labels }))
    ec2.addVolume(ebsVolumeId(pending.metadata.uid), { tags })
    await provisionVolume(kube, pending)
    return kube.waitUntilBound(pending)
  }

  it('says with the documented rights alone what would be written, and only lists', async () => {
    await boundClaim('new', { team: 'core' })
    await boundClaim('right', { team: 'core' }, { team: 'core', 'cost-center': 'cc-1' })
    await boundClaim('old', { team: 'core' }, { team: 'nobody', 'cost-center': 'cc-1' })
    const since = await cluster.audit?.mark()

    const { code, report: made } = await report('--namespace', namespace)

    expect(code).to.equal(0)
    const shown = made.claims.map(({ name, state, tags }) => [
      name,
      state,
      tags.map((tag) => `${tag.key} ${tag.state}`),
    ])
    expect(shown).to.deep.equal([
      ['new', 'differs', ['cost-center add', 'team add']],
      ['old', 'differs', ['cost-center in-place', 'team change']],
      ['right', 'tagged', ['cost-center in-place', 'team in-place']],
    ])
    expect(made.calls.cloud).to.deep.equal({ DescribeVolumes: 1 })
    expect(Object.keys(ec2.counts()).filter((action) => action !== 'DescribeVolumes')).to.deep.equal([])
    if (cluster.audit === undefined || since === undefined) return
    const { byCall } = await cluster.audit.counts({ user, since })
    expect([...byCall.keys()].toSorted()).to.deep.equal([
      'list namespaces',
      'list persistentvolumeclaims',
      'list persistentvolumes',
    ])
  })

  it('says what it may not read, instead of taking it for empty', async () => {
    const rights = (await documentedRights()).find(({ kind }) => kind === 'ClusterRole') as KubeObject & {
      rules: { resources: string[] }[]
    }
    rights.rules[0]!.resources = ['persistentvolumeclaims', 'namespaces']
    await cluster.kube.apply(rights)

    let made = await report('--namespace', namespace)
    // The authorizer sees a role some milliseconds after it was written.
    for (let tries = 0; made.code === 0 && tries < 20; tries++) made = await report('--namespace', namespace)

    expect(made.code).to.equal(1)
    expect(made.report.complete).to.equal(false)
    expect(made.report.unread.map(({ what }) => what)).to.deep.equal(['volumes'])
    expect(new Set(made.report.claims.map(({ state, reason }) => `${state} ${reason}`))).to.deep.equal(
      new Set(['unread volume-unreadable']),
    )
  })
})
