import { expect } from 'chai'
import { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from '../cluster.ts'
import { setUpCluster, type ClusterSetup } from '../cluster-setup.ts'
import { taggedAt } from '../latency.ts'
import { describeMs } from '../percentiles.ts'
import { Product } from '../product.ts'
import { scenarioFolder } from '../scenario-folder.ts'
import { startCluster } from '../start-cluster.ts'
import { ebsVolumeId, gp3, newClaim, provisionVolume } from '../volumes.ts'

const claims = 200
/** So that each change meets an idle product, and none its budget: 200 writes in a row are within it at this distance. */
const distanceMs = 250
const namespace = 'e2e-latency'

let cluster: Cluster
let setup: ClusterSetup
let ec2: Ec2Fake
let dir: string

/** Figures are printed here and judged by `make bench`: a test that fails on a busy machine helps nobody. */
describe('from a claim to its tags, the cloud answering in 100 ms', () => {
  before('starts', async () => {
    dir = scenarioFolder('latency')
    cluster = await startCluster({ dir, kcmQps: 1000, kcmBurst: 2000 })
    setup = await setUpCluster(cluster, { dir })
    ec2 = await Ec2Fake.start({ latencyMs: 100, requireSignature: true })
    await cluster.kube.apply(gp3)
    await cluster.kube.createNamespace(namespace)
  })

  after('stops', async () => {
    await ec2?.close()
    await cluster?.stop()
  })

  it(`with the webhook: ${claims} claims one after another are bound, then relabelled`, async () => {
    const product = await Product.start({ cluster, setup, dir, ec2Url: ec2.url })
    try {
      await measure('webhook')
      const reviewed = await Promise.all(
        product.webhooks.map((webhook) => product.metric(webhook, 'handed_over_total')),
      )
      expect(reviewed).to.deep.equal([0, 0])
    } finally {
      await product.stop()
    }
  })

  it(`with the reconciler alone: ${claims} claims one after another are bound, then relabelled`, async () => {
    const product = await Product.start({ cluster, setup, dir, ec2Url: ec2.url, webhooks: 0 })
    try {
      await measure('reconciler')
    } finally {
      await product.stop()
    }
  })
})

async function measure(who: string): Promise<void> {
  const { kube } = cluster
  const bindMs: number[] = []
  const labelMs: number[] = []
  const names = Array.from({ length: claims }, (_, i) => `${who}-${i}`)
  const since = await cluster.audit?.mark()
  for (const name of names) {
    const claim = await kube.claims.create(newClaim(name, { namespace, labels: { team: 'core', app: name } }))
    const disk = ebsVolumeId(claim.metadata.uid)
    ec2.addVolume(disk, { tags: { CSIVolumeName: `pvc-${claim.metadata.uid}` } })
    await provisionVolume(kube, claim)
    const bound = await kube.claims.waitFor(claim, 'name its volume', ({ spec }) => spec.volumeName !== undefined)
    const boundAtMs = Date.now()
    bindMs.push((await taggedAt(ec2, disk, { team: 'core', app: name })) - boundAtMs)
    expect(ec2.tagsOf(disk)).to.deep.equal({ CSIVolumeName: `pvc-${claim.metadata.uid}`, team: 'core', app: name })
    expect(bound.metadata.uid).to.equal(claim.metadata.uid)
    await sleep(distanceMs)
  }
  for (const name of names) {
    const claim = await kube.claims.get({ namespace, name })
    await kube.claims.label(claim, { team: 'data' })
    const answeredAtMs = Date.now()
    labelMs.push((await taggedAt(ec2, ebsVolumeId(claim.metadata.uid), { team: 'data', app: name })) - answeredAtMs)
    await sleep(distanceMs)
  }
  console.log(`      bind to tag:  ${describeMs(bindMs)}`)
  console.log(`      label to tag: ${describeMs(labelMs)}`)
  for (const user of [setup.webhook.user, setup.reconciler.user]) {
    const counts = await cluster.audit?.counts({ user, ...(since !== undefined && { since }) })
    const calls = [...(counts?.byCall ?? [])].map(([call, count]) => `${call} ${count}`).join(', ')
    console.log(`      ${user.split(':').at(-1)}: ${calls}; refused by fairness: ${counts?.throttled}`)
  }
  console.log(`      EC2: ${JSON.stringify(ec2.counts())}`)
  ec2.resetCounts()
}
