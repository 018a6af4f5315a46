import { expect } from 'chai'
import { ClusterInHand } from '../../testing/cluster-in-hand.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { TaggerProcess } from '../../testing/tagger-process.ts'
import type { TaggerProcessOptions } from '../../testing/tagger-process.ts'
import type { Claim } from '../claims/claim.ts'
import type { Volume } from '../claims/volume.ts'
import { parseRecord } from '../plan/record-codec.ts'
import { MemoryProvider } from '../providers/memory/memory-provider.ts'
import { silentLogger } from '../runtime/logger.ts'
import { RemovalBrake } from './removal-brake.ts'

const disk = 'vol-0123456789abcdef0'

function start(
  options: Partial<TaggerProcessOptions> = {},
  { claim = {}, tags = {} }: { claim?: Partial<Omit<Claim, 'key'>>; tags?: Record<string, string> } = {},
) {
  const clock = new FakeClock()
  const cluster = new ClusterInHand()
  const cloud = new MemoryProvider({ clock, knownDisksOnly: true })
  cloud.addDisk(disk, tags)
  const stored = cluster.put({ labels: { team: 'core' }, ...claim })
  cluster.putVolume()
  const process = (more: Partial<TaggerProcessOptions> = {}) =>
    new TaggerProcess({ cluster, cloud, clock, ...options, ...more })
  const record = (name = 'pv-1') => {
    const parsed = parseRecord(cluster.volumes.get(name)?.applied)
    return parsed.kind === 'record' ? parsed.record : undefined
  }
  return { clock, cluster, cloud, claim: stored, process, app: process(), tags: () => cloud.tagsOf(disk), record }
}

describe('the path, by the rules', () => {
  it('leaves a claim alone that is out of scope, and what its disk carries', async () => {
    const first = start()
    await first.app.pass(first.claim.key)
    const later = first.process({ config: { scope: { namespaces: { exclude: ['db'] } } } })

    first.cluster.label(first.claim, {})

    expect(await later.pass(first.claim.key)).to.deep.equal({ kind: 'skipped', reason: 'out-of-scope' })
    expect(first.tags()).to.deep.equal({ team: 'core' })
  })

  it('leaves a claim alone that opted out', async () => {
    const { app, claim, cloud } = start(
      { config: { tags: { optOut: true } } },
      { claim: { annotations: { 'k8s-cloud-tagger/ignore': '' } } },
    )

    expect(await app.pass(claim.key)).to.deep.equal({ kind: 'skipped', reason: 'opted-out' })
    expect(cloud.calls.applyChanges).to.equal(0)
  })

  it("I1: writes the namespace's labels, and what they become", async () => {
    const { app, claim, cluster, tags } = start({ config: { tags: { namespaceLabels: { include: ['cost'] } } } })
    const namespace = { name: 'db', uid: 'n', resourceVersion: '1', labels: { cost: '1' }, deleting: false }
    cluster.namespaces.set('db', namespace)
    await app.pass(claim.key)
    cluster.namespaces.set('db', { ...namespace, labels: { cost: '2' } })

    await app.pass(claim.key)

    expect(tags()).to.deep.equal({ team: 'core', cost: '2' })
  })

  it('waits for a namespace that it cannot see: an input that is missing is no empty one', async () => {
    const { app, claim, cloud } = start({ config: { tags: { namespaceLabels: { include: ['cost'] } } } })

    expect(await app.pass(claim.key)).to.deep.equal({ kind: 'pending', reason: 'namespace-not-found' })
    expect(cloud.calls).to.deep.equal({ getTags: 0, applyChanges: 0, listTags: 0 })
  })

  it('D10: keeps the last good tags of an annotation that cannot be read, writes the rest, and says so', async () => {
    const config = { tags: { claimTags: true } }
    const good = { 'k8s-cloud-tagger/tags': '{"owner":"me"}' }
    const { app, claim, cluster, tags, process } = start({ config }, { claim: { annotations: good } })
    await app.pass(claim.key)
    const { key: _, ...rest } = claim
    cluster.put({ ...rest, labels: { env: 'prod' }, annotations: { 'k8s-cloud-tagger/tags': '{"owner":' } })

    await app.pass(claim.key)

    expect(tags()).to.deep.equal({ team: 'core', owner: 'me', env: 'prod' })
    expect(cluster.events.at(-1)).to.include({ type: 'Warning', reason: 'TagsSkipped' })
    expect(cluster.events.at(-1)?.note).to.include('no valid JSON')
    expect(await process().pass(claim.key)).to.deep.equal({ kind: 'in-sync' })

    cluster.put({ ...rest, labels: { env: 'prod' }, annotations: { 'k8s-cloud-tagger/tags': '{}' } })
    await app.pass(claim.key)
    expect(tags()).to.deep.equal({ env: 'prod' })
  })

  it('keeps what is no longer wished where that is the policy, and still knows that it is ours', async () => {
    const { app, claim, cluster, tags, process, record } = start({ tagging: { removes: false } })
    await app.pass(claim.key)
    cluster.label(claim, {})

    await app.pass(claim.key)

    expect(tags()).to.deep.equal({ team: 'core' })
    expect(record()?.settled.get('team')).to.deep.equal({ value: 'core', before: false })
    expect(await process().pass(claim.key)).to.deep.equal({ kind: 'in-sync' })
    await process({ tagging: { removes: true } }).pass(claim.key)
    expect(tags()).to.deep.equal({})
  })

  it('computes and writes nothing under reportOnly: no tag, no record', async () => {
    const { app, claim, cluster, cloud } = start({ reportOnly: true }, { tags: { foreign: 'x' } })

    const outcome = await app.pass(claim.key)

    expect(outcome).to.have.property('kind', 'reported')
    expect(cloud.calls.applyChanges).to.equal(0)
    expect(cluster.calls).to.deep.equal(['get claim', 'get volume'])
  })

  it('takes for its own what the tool before it wrote, at no write, and removes it with its label', async () => {
    const { app, claim, cluster, cloud, tags } = start(
      { tagging: { adopt: true } },
      { claim: { labels: { team: 'core', env: 'prod' } }, tags: { team: 'core', env: 'prod', hand: 'made' } },
    )

    await app.pass(claim.key)
    expect(cloud.calls.applyChanges).to.equal(0)
    cluster.label(claim, { team: 'core' })
    await app.pass(claim.key)

    expect(tags()).to.deep.equal({ team: 'core', hand: 'made' })
  })

  it('does not take for its own what has another value, where it takes over from another tool', async () => {
    const { app, claim, cluster, tags } = start({ tagging: { adopt: true } }, { tags: { team: 'by hand' } })
    await app.pass(claim.key)
    cluster.label(claim, {})

    await app.pass(claim.key)

    expect(tags()).to.deep.equal({ team: 'core' })
  })

  it('stops removing at the brake, goes on writing, and removes when it is let', async () => {
    const clock = new FakeClock()
    const stopped = new RemovalBrake({ clock, logger: silentLogger, acknowledged: [], diskCount: () => 0 })
    stopped.foresee(
      'team',
      Array.from({ length: 21 }, (_, i) => `vol-${i}`),
    )
    const { app, claim, cluster, tags, process } = start()
    await app.pass(claim.key)
    cluster.label(claim, { env: 'prod' })

    await process({ tagging: { brake: stopped } }).pass(claim.key)
    expect(tags()).to.deep.equal({ team: 'core', env: 'prod' })
    expect(await process({ tagging: { brake: stopped } }).pass(claim.key)).to.deep.equal({ kind: 'in-sync' })

    await process().pass(claim.key)
    expect(tags()).to.deep.equal({ env: 'prod' })
  })

  describe('with two volumes that name one disk', () => {
    async function shared() {
      const world = start({}, { claim: { labels: { team: 'elder' } } })
      const young: Partial<Volume> = {
        name: 'pv-2',
        uid: 'volume-uid-2',
        createdAtMs: Date.UTC(2026, 5, 1),
        claimRef: { namespace: 'db', name: 'data-1', uid: 'claim-uid-2' },
      }
      world.cluster.putVolume(young)
      const younger = world.cluster.put({
        name: 'data-1',
        uid: 'claim-uid-2',
        volumeName: 'pv-2',
        labels: { team: 'younger', extra: 'x' },
      })
      const all = () => ['pv-1', 'pv-2'].flatMap((name) => world.cluster.volumes.get(name) ?? [])
      return { ...world, younger, webhook: world.process(), reconciler: world.process({ volumesOf: all }) }
    }

    it("marks the younger one, and lets the older one's claim settle what it left", async () => {
      const { claim, younger, webhook, reconciler, tags, record, cluster } = await shared()
      await webhook.pass(younger.key)

      expect(await reconciler.pass(younger.key)).to.deep.equal({ kind: 'skipped', reason: 'disk-of-another-volume' })
      await reconciler.pass(claim.key, { observe: true })

      expect(record('pv-2')?.yieldsTo).to.equal('pv-1')
      expect(tags()).to.deep.equal({ team: 'elder' })
      expect(cluster.events.map(({ reason }) => reason)).to.include('DiskShared')
    })

    it('leaves the younger one alone everywhere once it is marked, without flapping', async () => {
      const { claim, younger, webhook, reconciler, cloud } = await shared()
      await reconciler.pass(younger.key)
      await reconciler.pass(claim.key, { observe: true })
      const { applyChanges } = cloud.calls

      for (let i = 0; i < 3; i++) {
        expect(await webhook.pass(younger.key)).to.have.property('reason', 'disk-of-another-volume')
        await reconciler.pass(younger.key)
        await reconciler.pass(claim.key)
      }

      expect(cloud.calls.applyChanges).to.equal(applyChanges)
    })

    it('takes the younger one up when the older one is gone', async () => {
      const { claim, younger, reconciler, webhook, cluster, tags, record } = await shared()
      await reconciler.pass(younger.key)
      await reconciler.pass(claim.key, { observe: true })
      cluster.volumes.delete('pv-1')

      await reconciler.pass(younger.key)

      expect(tags()).to.deep.equal({ team: 'younger', extra: 'x' })
      expect(record('pv-2')?.yieldsTo).to.equal(undefined)
      expect(await webhook.pass(younger.key)).to.deep.equal({ kind: 'in-sync' })
    })
  })

  describe('against somebody who keeps changing a tag', () => {
    it('sets it three times in an hour whenever it looks, then only for the sweep, and tells the owner', async () => {
      const { claim, cloud, cluster, tags, app } = start({ policy: 'overwrite' })
      await app.pass(claim.key)
      let labels = 0
      // Each change of another label looks at the disk: the key is new to the record.
      const look = async (observe: boolean) => {
        cloud.addDisk(disk, { ...tags(), team: 'theirs' })
        cluster.label(claim, { team: 'core', [`label-${labels++}`]: 'x' })
        await app.pass(claim.key, observe ? { observe: true } : {})
        return tags()['team']
      }

      const seen = []
      for (let i = 0; i < 5; i++) seen.push(await look(false))
      expect(seen).to.deep.equal(['core', 'core', 'core', 'core', 'theirs'])
      expect(cluster.events.filter(({ reason }) => reason === 'TagContested')).to.have.length(1)
      expect(await look(true)).to.equal('core')
    })
  })
})
