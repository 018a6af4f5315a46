import { expect } from 'chai'
import { ClusterInHand } from '../../testing/cluster-in-hand.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { TaggerProcess } from '../../testing/tagger-process.ts'
import type { Claim } from '../claims/claim.ts'
import type { Volume } from '../claims/volume.ts'
import { MemoryProvider } from '../providers/memory/memory-provider.ts'

const disk = 'vol-0123456789abcdef0'

function start({ config = {}, tags = {} }: { config?: object; tags?: Record<string, string> } = {}) {
  const clock = new FakeClock()
  const cluster = new ClusterInHand()
  const cloud = new MemoryProvider({ clock, knownDisksOnly: true })
  cloud.addDisk(disk, tags)
  const app = () => new TaggerProcess({ cluster, cloud, clock, config })
  return { cluster, cloud, app, tags: () => cloud.tagsOf(disk) }
}

/** The claim as a change makes it; its key follows from its name. */
function change(cluster: ClusterInHand, claim: Claim, changes: Partial<Claim>): Claim {
  const { key: _, ...rest } = claim
  return cluster.put({ ...rest, ...changes })
}

const labels = { team: 'core' }

describe('cases that broke other taggers', () => {
  it('A1: a claim that is bound long after it was made is tagged when it is bound, its labels unchanged', async () => {
    const { cluster, app, tags } = start()
    const process = app()
    const claim = cluster.put({ labels, volumeName: undefined })
    expect(await process.pass(claim.key)).to.deep.equal({ kind: 'pending', reason: 'claim-unbound' })
    cluster.putVolume()

    const bound = change(cluster, claim, { volumeName: 'pv-1' })
    await process.pass(bound.key)

    expect(tags()).to.deep.equal(labels)
  })

  it("A2, A4: the claim's own tags, there from the start, are written when the volume comes minutes later", async () => {
    const { cluster, app, tags } = start({ config: { tags: { claimTags: true } } })
    const claim = cluster.put({ annotations: { 'k8s-cloud-tagger/tags': '{"owner":"me"}' } })
    const process = app()
    expect(await process.pass(claim.key)).to.deep.equal({ kind: 'pending', reason: 'volume-not-found' })
    cluster.putVolume()

    await process.pass(claim.key)

    expect(tags()).to.deep.equal({ owner: 'me' })
  })

  it('A5: a claim that is made with its tags and one that gets them later end alike', async () => {
    const made = start()
    made.cluster.putVolume()
    await made.app().pass(made.cluster.put({ labels }).key)
    const later = start()
    later.cluster.putVolume()
    const claim = later.cluster.put()
    await later.app().pass(claim.key)
    await later.app().pass(later.cluster.label(claim, labels).key)

    expect(later.tags()).to.deep.equal(made.tags())
  })

  it('A7: a young disk that the cloud does not know yet is looked at again, and tagged', async () => {
    const { cluster, cloud, app, tags } = start()
    cloud.removeDisk(disk)
    cluster.putVolume()
    const claim = cluster.put({ labels })
    expect(await app().pass(claim.key)).to.include({ kind: 'cloud-failure', reason: 'not-found' })
    cloud.addDisk(disk, {})

    await app().pass(claim.key)

    expect(tags()).to.deep.equal(labels)
  })

  it('B1, B11: the volume alone says which disk it is: no annotation of the claim, no mark of a provisioner', async () => {
    const { cluster, app, tags } = start()
    cluster.putVolume({ provisionedBy: undefined })

    await app().pass(cluster.put({ labels, annotations: {} }).key)

    expect(tags()).to.deep.equal(labels)
  })

  it('D1: a new default tag reaches the disks that are there', async () => {
    const before = start()
    before.cluster.putVolume()
    const claim = before.cluster.put({ labels })
    await before.app().pass(claim.key)
    const after = new TaggerProcess({
      cluster: before.cluster,
      cloud: before.cloud,
      clock: new FakeClock(),
      config: { tags: { defaults: { 'managed-by': 'k8s' } } },
    })

    await after.pass(claim.key)

    expect(before.tags()).to.deep.equal({ team: 'core', 'managed-by': 'k8s' })
  })

  it('D8: a restored volume ends with exactly what is wished and what was there', async () => {
    const { cluster, app, tags } = start({ tags: { 'velero.io/backup': 'b1', env: 'old' } })
    cluster.putVolume()

    await app().pass(cluster.put({ labels: { env: 'prod', team: 'core' } }).key)

    expect(tags()).to.deep.equal({ 'velero.io/backup': 'b1', env: 'prod', team: 'core' })
  })

  it('E1, E3: tags that a robot or the cloud adds each hour are no drift', async () => {
    const foreign = { audited: 'yes', 'aws:cloudformation:stack-name': 's' }
    const { cluster, cloud, app, tags } = start()
    cluster.putVolume()
    const claim = cluster.put({ labels })
    await app().pass(claim.key)
    const { applyChanges } = cloud.calls
    cloud.addDisk(disk, { ...tags(), ...foreign })

    for (let i = 0; i < 3; i++) await app().pass(claim.key, { observe: true })

    expect(cloud.calls.applyChanges).to.equal(applyChanges)
    expect(tags()).to.deep.equal({ team: 'core', ...foreign })
  })

  it('E10: a claim cannot write the keys of the CSI driver and of the cluster', async () => {
    const owned = { KubernetesCluster: 'prod', 'kubernetes.io/cluster/prod': 'owned' }
    const { cluster, app, tags } = start({ tags: owned })
    cluster.putVolume()

    await app().pass(cluster.put({ labels: { KubernetesCluster: 'mine', 'kubernetes.io/cluster/prod': 'x' } }).key)

    expect(tags()).to.deep.equal(owned)
  })

  describe('a volume that is retained and bound to another claim', () => {
    it("loses the old claim's own tags and gets those of the new one", async () => {
      const { cluster, app, tags } = start({ tags: { foreign: 'x' } })
      const volume = cluster.putVolume()
      await app().pass(cluster.put({ labels: { team: 'old', only: 'old' } }).key)
      const stored = cluster.volumes.get(volume.name) as Volume
      cluster.claims.clear()
      cluster.putVolume({ ...stored, claimRef: { namespace: 'db', name: 'second', uid: 'claim-uid-2' } })

      await app().pass(cluster.put({ name: 'second', uid: 'claim-uid-2', labels: { team: 'new' } }).key)

      expect(tags()).to.deep.equal({ team: 'new', foreign: 'x' })
    })
  })
})
