import { expect } from 'chai'
import { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { bindClaim, claimWithVolume, inParallel } from '../bulk.ts'
import { controlPlaneBinaries, ensureBinaries } from '../binaries.ts'
import type { Cluster } from '../cluster.ts'
import { setUpCluster, type ClusterSetup } from '../cluster-setup.ts'
import type { PersistentVolume, PersistentVolumeClaim, Stored } from '../kube-objects.ts'
import { taggedAt } from '../latency.ts'
import { Product } from '../product.ts'
import { scenarioFolder } from '../scenario-folder.ts'
import { startCluster } from '../start-cluster.ts'
import { byHand, ebsVolumeId, gp3, newClaim, provisionVolume, volumeByHand } from '../volumes.ts'

const namespace = 'e2e-path'
const applied = 'k8s-cloud-tagger/applied'

let cluster: Cluster
let setup: ClusterSetup
let ec2: Ec2Fake
let product: Product
let dir: string

describe('the product on a real control plane', () => {
  before('starts', async () => {
    dir = scenarioFolder('path')
    cluster = await startCluster({ dir, kcmQps: 500, kcmBurst: 1000 })
    setup = await setUpCluster(cluster, { dir })
    ec2 = await Ec2Fake.start({ requireSignature: true })
    await cluster.kube.apply(gp3, byHand)
    await cluster.kube.createNamespace(namespace)
    product = await startProduct()
  })

  after('stops', async () => {
    await product?.stop()
    await ec2?.close()
    await cluster?.stop()
  })

  describe('tags', describeTagging)
  describe('leaves alone', describeSilence)
  describe('keeps its hands off', describeIdentity)
  describe('with two webhooks', describeTwoWriters)
  describe('when it is stopped or killed', describeEnds)
})

/** Calls are given up after a second, so that an intent lives for five and a test need not wait a minute for one. */
function startProduct(): Promise<Product> {
  const config = {
    aws: { callTimeout: '1s' },
    requeue: { notReady: '1s', error: '2s' },
    reconciler: { headStart: '3s' },
  }
  return Product.start({ cluster, setup, dir, ec2Url: ec2.url, config })
}

async function taggedClaim(name: string, labels: Record<string, string>, tags: Record<string, string> = {}) {
  const pair = await boundClaimWithDisk(name, labels, tags)
  await taggedAt(ec2, pair.disk, labels)
  return pair
}

async function boundClaimWithDisk(name: string, labels: Record<string, string>, tags: Record<string, string> = {}) {
  const { kube } = cluster
  const pending = await kube.claims.create(newClaim(name, { namespace, labels }))
  const disk = ebsVolumeId(pending.metadata.uid)
  ec2.addVolume(disk, { tags })
  const volume = await provisionVolume(kube, pending)
  return { claim: await kube.waitUntilBound(pending), volume, disk }
}

function recordOf(volume: Stored<PersistentVolume>): Promise<string> {
  return cluster.kube.volumes.get(volume).then(({ metadata }) => metadata.annotations?.[applied] ?? '')
}

async function untilSettled(volume: Stored<PersistentVolume>): Promise<string> {
  const closed = await cluster.kube.volumes.waitFor(volume, 'have a closed record', ({ metadata }) => {
    const record = metadata.annotations?.[applied]
    return record !== undefined && !record.includes('"intent"')
  })
  return closed.metadata.annotations?.[applied] ?? ''
}

function describeTagging(): void {
  it("the disk of a claim that the real controller binds, and tells the claim's owner", async () => {
    const { claim, disk } = await taggedClaim('bound', { team: 'core', 'app.kubernetes.io/name': 'db' }, { Name: 'x' })

    expect(ec2.tagsOf(disk)).to.deep.equal({ Name: 'x', team: 'core', 'app.kubernetes.io/name': 'db' })
    const told = async () => {
      const events = await cluster.kube.events.list(namespace)
      return events.find(({ regarding, reason }) => regarding?.uid === claim.metadata.uid && reason === 'Tagged')
    }
    while ((await told()) === undefined) await sleep(50)
    expect(await told()).to.include({ type: 'Normal', note: `${disk}: set app.kubernetes.io/name=db, team=core` })
  })

  it('a disk that was there first, after a look at it', async () => {
    const { kube } = cluster
    const volume = await kube.volumes.create(volumeByHand('e2e-path-old', { claim: { namespace, name: 'old' } }))
    const disk = ebsVolumeId('e2e-path-old')
    ec2.addVolume(disk, { tags: { team: 'finance', keep: 'me' } })
    await kube.volumes.waitFor(volume, 'be available', ({ status }) => status?.phase === 'Available')

    await kube.claims.create(newClaim('old', { namespace, labels: { team: 'core' }, storageClassName: 'by-hand' }))
    await taggedAt(ec2, disk, { team: 'core' })

    expect(ec2.tagsOf(disk)).to.deep.equal({ team: 'core', keep: 'me' })
    expect(await untilSettled(volume)).to.include('"team":{"value":"core","before":true}')
  })

  it('with what the labels have become, added, changed and removed', async () => {
    const { claim, volume, disk } = await taggedClaim('changing', { team: 'core', env: 'test' })
    await cluster.kube.claims.label(claim, { team: 'data', env: null, tier: 'gold' })

    await taggedAt(ec2, disk, { team: 'data', tier: 'gold' })
    await untilSettled(volume)

    expect(ec2.tagsOf(disk)).to.deep.equal({ team: 'data', tier: 'gold' })
  })

  it('what was created while the webhook was down, at once for kubectl and soon after for the disk', async () => {
    const webhooks = product.webhooks
    await Promise.all(webhooks.map(({ process }) => process.stop()))
    const startedMs = performance.now()
    const { disk } = await boundClaimWithDisk('unseen', { team: 'core' })
    expect(performance.now() - startedMs).to.be.lessThan(5000)

    await taggedAt(ec2, disk, { team: 'core' })

    const { reconciler } = product
    expect(reconciler && (await product.metric(reconciler, 'missed_by_webhook_total'))).to.be.greaterThan(0)
    for (const webhook of webhooks) await webhook.restart()
  })
}

function describeSilence(): void {
  it('a dry run: no job, no disk touched', async () => {
    const before = await reviewsQueued()
    await kubectl('apply', '--dry-run=server', '-f', '-', newClaim('dry', { namespace, labels: { team: 'core' } }))
    const { claim, disk } = await taggedClaim('dry-later', { team: 'core' })
    const queued = await reviewsQueued()
    const { calls } = ec2.count('CreateTags')
    await kubectl('label', '--dry-run=server', 'pvc', '-n', namespace, claim.metadata.name, 'team=other', '--overwrite')

    expect(await reviewsQueued()).to.equal(queued)
    expect(queued).to.equal(before + 1)
    expect(ec2.count('CreateTags').calls).to.equal(calls)
    expect(ec2.tagsOf(disk)).to.deep.equal({ team: 'core' })
  })

  it('EFS, NFS, hostPath, local and unbound claims: no cloud call, no line in the log', async () => {
    const { kube } = cluster
    await sleep(1000)
    ec2.resetCounts()
    const lines = logLines()
    const sources: Record<string, object> = {
      efs: { csi: { driver: 'efs.csi.aws.com', volumeHandle: 'fs-1::fsap-2' } },
      nfs: { nfs: { server: 'nfs.test', path: '/' } },
      'host-path': { hostPath: { path: '/tmp/e2e' } },
      local: { local: { path: '/mnt/e2e' }, nodeAffinity: anyNode },
    }
    for (const [name, source] of Object.entries(sources)) {
      const { csi: _, ...spec } = volumeByHand(`e2e-${name}`, { claim: { namespace, name } }).spec
      const volume = await kube.volumes.create({
        ...volumeByHand(`e2e-${name}`),
        spec: { ...spec, ...source },
      })
      await kube.volumes.waitFor(volume, 'be available', ({ status }) => status?.phase === 'Available')
      const options = { namespace, labels: { team: 'core' }, storageClassName: 'by-hand' }
      await kube.waitUntilBound(await kube.claims.create(newClaim(name, options)))
    }
    await kube.claims.create(newClaim('unbound', { namespace, labels: { team: 'core' }, storageClassName: 'by-hand' }))
    // Beyond the head start of the reconciler and several of its backoffs.
    await sleep(8000)

    expect(ec2.counts()).to.deep.equal({})
    expect(logLines()).to.equal(lines)
  })
}

const anyNode = {
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'Exists' }] }] },
}

function describeIdentity(): void {
  it("B12: a claim that names somebody else's volume gets nothing tagged", async () => {
    const { kube } = cluster
    const { disk, volume } = await taggedClaim('rightful', { owner: 'bank' })
    await kube.createNamespace('e2e-evil')
    const volumeName = volume.metadata.name
    const options = { namespace: 'e2e-evil', labels: { owner: 'evil', extra: 'x' }, volumeName }
    const thief = await kube.claims.create(newClaim('thief', options))
    await kube.claims.label(thief, { owner: 'still-evil' })
    await sleep(5000)

    expect(ec2.tagsOf(disk)).to.deep.equal({ owner: 'bank' })
  })
}

function describeTwoWriters(): void {
  it('ends right when a write lands long after its client gave up, while the label is removed', async () => {
    const { kube } = cluster
    const { claim, volume, disk } = await taggedClaim('late', { team: 'core', gone: 'x' })
    await untilSettled(volume)
    // Two seconds after the time-out of one: as 20 s are to 10.
    const late = ec2.inject({ kind: 'late-write', landsAfterMs: 3000 }, { action: 'CreateTags', ids: [disk], times: 1 })
    await kube.claims.label(claim, { gone: 'y' })
    while (late.hits === 0) await sleep(20)
    // Whoever holds the intent is stopped for good; the removal has to come from elsewhere.
    const holder = /"by":"(?<by>[a-z0-9-]+)"/u.exec(await recordOf(volume))?.groups?.['by']
    const stopped = product.programs.filter(({ name }) => name === holder)
    for (const { process } of stopped) await process.kill()
    await kube.claims.label(claim, { gone: null })
    await sleep(6000)

    expect(stopped).to.have.length(1)
    expect(await untilSettled(volume)).to.not.include('gone')
    expect(ec2.tagsOf(disk)).to.deep.equal({ team: 'core' })
    for (const program of stopped) await program.restart()
  })
}

function describeEnds(): void {
  it('SIGTERM under load: exits 0 within 5 s, fails no admission call, loses nothing', async () => {
    const { kube } = cluster
    ec2.latencyMs = 100
    const failedOpen = async () => (await kube.metrics()).sum('apiserver_admission_webhook_fail_open_count')
    const before = await failedOpen()
    const pairs = await inParallel(60, (i) =>
      claimWithVolume(kube, `load-${i}`, { namespace, labels: { load: `${i % 5}` } }),
    )
    for (const { claim } of pairs) ec2.addVolume(ebsVolumeId(claim.metadata.uid))
    const [first, second] = product.webhooks
    const stops = (async () => {
      for (const program of [first, second, product.reconciler]) {
        await sleep(200)
        const { code, stoppedInMs } = (await program?.process.stop()) ?? {}
        expect([program?.name, code]).to.deep.equal([program?.name, 0])
        expect(stoppedInMs).to.be.lessThan(5000)
        await program?.restart()
      }
    })()
    await inParallel(60, async (i) => {
      await sleep(i * 100)
      const pair = pairs[i]
      if (pair !== undefined) await kube.claims.label(await bindClaim(kube, pair, { status: false }), { again: `${i}` })
    })
    await stops
    await Promise.all(
      pairs.map(({ claim }, i) =>
        taggedAt(ec2, ebsVolumeId(claim.metadata.uid), { load: `${i % 5}`, again: `${i}` }, 60_000),
      ),
    )

    expect(await failedOpen()).to.equal(before)
    ec2.latencyMs = 0
  })

  it('killed while its call is at EC2, and restarted: ends right, with a closed record', async () => {
    const { kube } = cluster
    const { claim, volume, disk } = await taggedClaim('killed', { team: 'core' })
    await untilSettled(volume)
    ec2.latencyMs = 300
    await kube.claims.label(claim, { team: 'data', more: 'x' })
    await ec2.nextCall('CreateTags')
    for (const { process } of product.programs) await process.kill()
    ec2.latencyMs = 0
    for (const program of product.programs) await program.restart()

    await taggedAt(ec2, disk, { team: 'data', more: 'x' })
    expect(await untilSettled(volume)).to.include('data')
  })
}

async function reviewsQueued(): Promise<number> {
  const counts = await Promise.all(
    product.webhooks.map((one) => product.metric(one, 'reviews_total', 'outcome="queued"')),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

function logLines(): number {
  const logs = product.programs.map(({ process }) => process.log.lines())
  return logs.reduce((sum, lines) => sum + lines.length, 0)
}

/** The last argument may be an object, which is given to kubectl as its input. */
async function kubectl(...args: readonly (string | PersistentVolumeClaim)[]): Promise<string> {
  const input = args.find((arg) => typeof arg !== 'string')
  const flags = args.filter((arg) => typeof arg === 'string')
  // kubectl keeps a cache in its home.
  const running = promisify(execFile)((await ensureBinaries(controlPlaneBinaries)).kubectl, flags, {
    env: { KUBECONFIG: cluster.kubeconfigPath, HOME: dir },
  })
  if (input !== undefined) running.child.stdin?.end(JSON.stringify(input))
  return (await running).stdout
}
