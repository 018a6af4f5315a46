import { expect } from 'chai'
import { AdmissionRecorder } from '../admission-recorder.ts'
import type { Cluster } from '../cluster.ts'
import { ownNamespace, setUpCluster, type ClusterSetup } from '../cluster-setup.ts'
import { KubeClient, KubeStatusError } from '../kube-client.ts'
import { Kube } from '../kube.ts'
import { scenarioFolder } from '../scenario-folder.ts'
import { startCluster } from '../start-cluster.ts'
import { boundClaim, byHand, gp3, newClaim, provisionVolume, volumeByHand } from '../volumes.ts'
import { untilReviewed } from '../webhook-ready.ts'

const binder = 'system:serviceaccount:kube-system:persistent-volume-binder'
const namespace = 'e2e-control-plane'
const applied = 'k8s-cloud-tagger/applied'
const appliedPath = '/metadata/annotations/k8s-cloud-tagger~1applied'

let cluster: Cluster
let setup: ClusterSetup
let recorder: AdmissionRecorder
let kube: Kube

describe('a real control plane', () => {
  before('starts and gets the manifests', async () => {
    const dir = scenarioFolder('control-plane')
    cluster = await startCluster({ dir })
    ;({ kube } = cluster)
    setup = await setUpCluster(cluster, { dir })
    recorder = await AdmissionRecorder.start(cluster)
    await setup.registerWebhook(recorder.endpoint)
    await kube.apply(gp3, byHand)
    await kube.createNamespace(namespace)
    await untilReviewed(kube, () => recorder.reviews.length > 0)
  })

  after('stops', async () => {
    await setup?.unregisterWebhook()
    await kube?.namespaces.delete({ name: namespace })
    await recorder?.stop()
    await cluster?.stop()
  })

  describe('asks the webhook', describeReviews)

  describe('does not ask the webhook', describeSilence)

  describe('lets the programs', describeRights)

  describe('without a webhook', describeOutage)
})

async function failure(call: Promise<unknown>): Promise<KubeStatusError> {
  try {
    await call
  } catch (error) {
    if (error instanceof KubeStatusError) return error
    throw error
  }
  throw new Error('The call was expected to be refused')
}

function describeReviews(): void {
  it('once at creation and once at binding, besides the annotation that calls the provisioner', async () => {
    const { claim, volume } = await boundClaim(kube, 'bound', { namespace, labels: { team: 'core' } })

    expect(claim.spec.volumeName).to.equal(volume.metadata.name)
    expect(asked('bound')).to.deep.equal([
      'CREATE by us, volume none then none',
      'UPDATE by the binder, volume none then none',
      `UPDATE by the binder, volume none then ${volume.metadata.name}`,
    ])
  })

  it('once less where a volume was made by hand and no provisioner is called', async () => {
    const volume = await kube.volumes.create(volumeByHand('e2e-by-hand', { claim: { namespace, name: 'old-disk' } }))
    // A claim that the controller sees before its volume would wait for the next resync, 15 seconds later.
    await kube.volumes.waitFor(volume, 'be available', ({ status }) => status?.phase === 'Available')
    const claim = await kube.claims.create(newClaim('old-disk', { namespace, storageClassName: 'by-hand' }))

    const bound = await kube.waitUntilBound(claim)

    expect(bound.spec.volumeName).to.equal(volume.metadata.name)
    expect(asked('old-disk')).to.deep.equal([
      'CREATE by us, volume none then none',
      `UPDATE by the binder, volume none then ${volume.metadata.name}`,
    ])
    await kube.claims.delete(claim)
    await kube.volumes.delete(volume)
  })

  it('before the bind is stored: the status is still Pending, and the volume already knows the claim', async () => {
    const { claim, volume } = await boundClaim(kube, 'pending', { namespace })

    const bind = await recorder.waitFor(({ object }) => object.spec.volumeName === volume.metadata.name)

    expect(bind.object.status?.phase).to.equal('Pending')
    expect(volume.spec.claimRef?.uid).to.equal(claim.metadata.uid)
  })

  it('with name and uid known, where only generateName was given', async () => {
    const { metadata, spec, ...rest } = newClaim('', { namespace })
    const claim = await kube.claims.create({ ...rest, spec, metadata: { ...metadata, generateName: 'made-up-' } })

    const [review] = recorder.of(claim)

    expect(review?.name).to.equal(claim.metadata.name)
    expect(review?.object.metadata.uid).to.equal(claim.metadata.uid)
  })

  it('when a label or an annotation is set, changed or removed, also the first and the last one', async () => {
    const claim = await kube.claims.create({
      ...newClaim('bare', { namespace, storageClassName: 'by-hand' }),
      metadata: { name: 'bare', namespace },
    })

    expect(await lastReviewOf(() => kube.claims.label(claim, { team: 'core' }))).to.deep.equal({
      labels: { team: 'core' },
    })
    expect(await lastReviewOf(() => kube.claims.label(claim, { team: 'data' }))).to.deep.equal({
      labels: { team: 'data' },
    })
    expect(await lastReviewOf(() => kube.claims.label(claim, { team: null }))).to.deep.equal({})
    expect(await lastReviewOf(() => kube.claims.annotate(claim, { note: 'x' }))).to.deep.equal({
      annotations: { note: 'x' },
    })
    expect(await lastReviewOf(() => kube.claims.annotate(claim, { note: null }))).to.deep.equal({})
  })

  it('H3: about a dry run, which is marked as one', async () => {
    await kube.claims.create(newClaim('dry', { namespace }), { dryRun: true })

    expect(recorder.of({ metadata: { name: 'dry' } }).map(({ dryRun }) => dryRun)).to.deep.equal([true])
    expect(await kube.claims.find({ namespace, name: 'dry' })).to.equal(undefined)
  })
}

function describeOutage(): void {
  it('H1: goes on: claims are created and bound, and the metric of skipped calls says so', async () => {
    const skippedBefore = (await kube.metrics()).sum('apiserver_admission_webhook_fail_open_count')
    await recorder.stop()
    const claim = await kube.claims.create(newClaim('unseen', { namespace }))
    await provisionVolume(kube, claim)

    await kube.waitUntilBound(claim)

    const skipped = (await kube.metrics()).sum('apiserver_admission_webhook_fail_open_count') - skippedBefore
    expect(skipped).to.be.at.least(3)
  })
}

function describeSilence(): void {
  it('when nothing changes, or nothing that tags come from', async () => {
    const { claim } = await boundClaim(kube, 'quiet', { namespace, labels: { team: 'core' } })
    recorder.forget()

    await kube.claims.label(claim, { team: 'core' })
    await kube.claims.apply(newClaim('quiet', { namespace, labels: { team: 'core' } }))
    await kube.claims.patch(claim, { spec: { resources: { requests: { storage: '2Gi' } } } })
    await kube.claims.patch(claim, { status: { phase: 'Lost' } }, { subresource: 'status' })
    await kube.claims.jsonPatch(claim, [{ op: 'add', path: '/metadata/finalizers/-', value: 'e2e.test/hold' }])

    expect(recorder.of(claim)).to.deep.equal([])
  })

  it('about a deletion, the waiting for its finalizers, and changes meanwhile', async () => {
    const { claim } = await boundClaim(kube, 'doomed', { namespace })
    await kube.claims.jsonPatch(claim, [{ op: 'add', path: '/metadata/finalizers/-', value: 'e2e.test/hold' }])
    recorder.forget()

    await kube.claims.delete(claim)
    await kube.claims.label(claim, { team: 'late' })
    await kube.claims.patch(claim, { metadata: { finalizers: null } })
    await kube.claims.waitUntilGone(claim)

    expect(recorder.of(claim)).to.deep.equal([])
  })

  it('about claims of the system and of its own namespace', async () => {
    for (const namespace of ['kube-system', ownNamespace]) {
      await kube.claims.create(newClaim('left-alone', { namespace, storageClassName: 'by-hand' }))
      await kube.claims.delete({ namespace, name: 'left-alone' })
    }

    expect(recorder.of({ metadata: { name: 'left-alone' } })).to.deep.equal([])
  })

  it('because of an expression that failed', async () => {
    const metrics = await kube.metrics()

    expect(metrics.sum('apiserver_admission_match_condition_exclusions_total')).to.be.greaterThan(0)
    expect(metrics.sum('apiserver_admission_match_condition_evaluation_errors_total')).to.equal(0)
  })
}

function describeRights(): void {
  let webhook: Kube

  before('as the webhook account', () => {
    webhook = new Kube(new KubeClient({ url: cluster.url, caPem: cluster.caPem, token: setup.webhook.token }))
  })

  after('closes its connections', () => webhook.client.close())

  it("write their annotation on a volume, tested against the volume's and the claim's uid", async () => {
    const { claim, volume } = await boundClaim(kube, 'recorded', { namespace })

    const written = await webhook.volumes.jsonPatch(volume, [
      { op: 'test', path: '/metadata/uid', value: volume.metadata.uid },
      { op: 'test', path: '/spec/claimRef/uid', value: claim.metadata.uid },
      { op: 'test', path: appliedPath, value: null },
      { op: 'add', path: appliedPath, value: '{}' },
    ])

    expect(written.metadata.annotations?.[applied]).to.equal('{}')
  })

  it('fail on a test that does not hold, with 422', async () => {
    const { volume } = await boundClaim(kube, 'tested', { namespace })

    for (const test of [
      { op: 'test', path: '/metadata/uid', value: 'another' },
      { op: 'test', path: appliedPath, value: 'another' },
    ] as const) {
      const error = await failure(webhook.volumes.jsonPatch(volume, [test]))
      expect(error.status, error.message).to.equal(422)
    }
  })

  it('change nothing else on a volume', async () => {
    const { volume } = await boundClaim(kube, 'guarded', { namespace })

    for (const change of [
      { spec: { persistentVolumeReclaimPolicy: 'Retain' } },
      { metadata: { labels: { team: 'x' } } },
      { metadata: { annotations: { other: 'x' } } },
      { metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': null } } },
      { metadata: { finalizers: null } },
    ]) {
      const error = await failure(webhook.volumes.patch(volume, change))
      expect(error.message).to.include('k8s-cloud-tagger may')
      expect(error.status).to.equal(403)
    }
  })

  it('read one claim, and not all, nor change one', async () => {
    const claim = await kube.claims.create(newClaim('readable', { namespace, storageClassName: 'by-hand' }))

    expect((await webhook.claims.get(claim)).metadata.uid).to.equal(claim.metadata.uid)
    expect((await failure(webhook.claims.list(namespace))).status).to.equal(403)
    expect((await failure(webhook.claims.label(claim, { team: 'x' }))).status).to.equal(403)
  })

  it('be counted by what they ask for', async () => {
    const { audit } = cluster
    if (audit === undefined) return
    const since = await audit.mark()
    const { volume } = await boundClaim(kube, 'counted', { namespace })
    await webhook.volumes.get(volume)
    await webhook.volumes.annotate(volume, { [applied]: '{}' })

    const counts = await audit.counts({ user: setup.webhook.user, since })

    expect(Object.fromEntries(counts.byCall)).to.deep.equal({
      'get persistentvolumes': 1,
      'patch persistentvolumes': 1,
    })
    expect(counts.throttled).to.equal(0)
  })
}

/**
 * What the store got is what was reviewed last: the API server first tries a change on its cache's object, and asks again
 * where that was not the newest.
 */
async function lastReviewOf(change: () => Promise<unknown>): Promise<unknown> {
  recorder.forget()
  await change()
  const { labels, annotations } = recorder.reviews.at(-1)?.object.metadata ?? {}
  return { ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) }
}

/**
 * What was asked about one claim, in the order of arrival: `UPDATE by the binder, volume none then pvc-1`. A question
 * that the API server asked again, because its cache was behind, counts once.
 */
function asked(name: string): readonly string[] {
  const reviews = recorder.of({ metadata: { name } }).map(({ operation, user, object, oldObject }) => {
    const volume = [oldObject?.spec.volumeName, object.spec.volumeName].map((volumeName) => volumeName ?? 'none')
    return `${operation} by ${user === binder ? 'the binder' : 'us'}, volume ${volume.join(' then ')}`
  })
  return reviews.filter((review, at) => review !== reviews[at - 1])
}
