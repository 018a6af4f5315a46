import { expect } from 'chai'
import { ClusterInHand } from '../../testing/cluster-in-hand.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { TaggerProcess } from '../../testing/tagger-process.ts'
import type { TaggerProcessOptions } from '../../testing/tagger-process.ts'
import type { Claim } from '../claims/claim.ts'
import type { Volume } from '../claims/volume.ts'
import { parseRecord, serializeRecord } from '../plan/record-codec.ts'
import type { AppliedRecord } from '../plan/applied-record.ts'
import { MemoryProvider } from '../providers/memory/memory-provider.ts'
import { ProviderError } from '../providers/provider-error.ts'

const disk = 'vol-0123456789abcdef0'

function start(overrides: { claim?: Partial<Claim>; volume?: Partial<Volume>; tags?: Record<string, string> } = {}) {
  const clock = new FakeClock()
  const cluster = new ClusterInHand()
  const cloud = new MemoryProvider({ clock, knownDisksOnly: true })
  cloud.addDisk(disk, overrides.tags ?? {})
  const claim = cluster.put({ labels: { team: 'core' }, ...overrides.claim })
  cluster.putVolume(overrides.volume)
  const process = (options: Partial<TaggerProcessOptions> = {}) =>
    new TaggerProcess({ cluster, cloud, clock, ...options })
  const tags = () => cloud.tagsOf(disk)
  const record = (): AppliedRecord | undefined => {
    const parsed = parseRecord(cluster.volumes.get('pv-1')?.applied)
    return parsed.kind === 'record' ? parsed.record : undefined
  }
  return { clock, cluster, cloud, claim, process, tags, record, app: process() }
}

/** Made by a provisioner, for the claim of the builders, just now. */
const freshVolume: Partial<Volume> = {
  name: 'pvc-claim-uid-1',
  provisionedBy: 'ebs.csi.aws.com',
  createdAtMs: Date.UTC(2026, 0, 1),
}

describe('the path', () => {
  it('writes the labels of a claim on a disk that was just made for it, without a read', async () => {
    const { cluster, cloud, claim, app, tags, process } = start({
      claim: { volumeName: 'pvc-claim-uid-1' },
      volume: freshVolume,
      tags: { CSIVolumeName: 'x' },
    })

    const outcome = await app.pass(claim.key)

    expect(outcome).to.have.property('kind', 'tagged')
    expect(tags()).to.deep.equal({ CSIVolumeName: 'x', team: 'core' })
    expect(cloud.calls).to.deep.equal({ getTags: 0, applyChanges: 1, listTags: 0 })
    expect(cluster.calls).to.deep.equal(['get claim', 'get volume', 'open record', 'settle record'])
    expect(await process().pass(claim.key)).to.deep.equal({ kind: 'in-sync' })
  })

  it('reads a disk first that was there before us, and keeps in mind what was on it', async () => {
    const { cloud, claim, app, tags, record } = start({ tags: { team: 'old', foreign: 'x' } })

    await app.pass(claim.key)

    expect(tags()).to.deep.equal({ team: 'core', foreign: 'x' })
    expect(cloud.calls.getTags).to.equal(1)
    expect(record()?.settled.get('team')).to.deep.equal({ value: 'core', before: true })
    expect(record()?.intent).to.equal(undefined)
  })

  it('D3: writes a changed value of its own without a read, and tells the owner', async () => {
    const { cluster, cloud, claim, app, tags } = start()
    await app.pass(claim.key)
    cluster.label(claim, { team: 'infra' })

    await app.pass(claim.key)

    expect(tags()).to.deep.equal({ team: 'infra' })
    expect(cloud.calls).to.deep.equal({ getTags: 1, applyChanges: 2, listTags: 0 })
    expect(cluster.events.at(-1)).to.include({ reason: 'Tagged', note: `${disk}: set team=infra` })
  })

  it('C23: makes no call to the cloud for a claim without labels, and keeps no record', async () => {
    const { cluster, cloud, claim, app } = start({ claim: { labels: {} } })

    expect(await app.pass(claim.key)).to.deep.equal({ kind: 'in-sync' })

    expect(cloud.calls).to.deep.equal({ getTags: 0, applyChanges: 0, listTags: 0 })
    expect(cluster.calls).to.deep.equal(['get claim', 'get volume'])
  })

  it('G8, G9: costs no call to the cloud after a restart when nothing changed', async () => {
    const { cloud, claim, app, process } = start()
    await app.pass(claim.key)
    const before = cloud.calls

    expect(await process().pass(claim.key)).to.deep.equal({ kind: 'in-sync' })

    expect(cloud.calls).to.deep.equal(before)
  })

  it('D2, G6: settles without a write where the disk is right already', async () => {
    const { cluster, cloud, claim, app, record } = start({ tags: { team: 'core' } })

    expect(await app.pass(claim.key)).to.deep.equal({ kind: 'in-sync' })

    expect(cloud.calls.applyChanges).to.equal(0)
    expect(record()?.settled.get('team')).to.deep.equal({ value: 'core', before: true })
    expect(cluster.events).to.deep.equal([])
  })

  describe('when a label goes', () => {
    it('removes its tag, also after a restart', async () => {
      const { cluster, claim, app, process, tags } = start({ claim: { labels: { team: 'core', env: 'prod' } } })
      await app.pass(claim.key)
      cluster.label(claim, { team: 'core' })

      await process().pass(claim.key)

      expect(tags()).to.deep.equal({ team: 'core' })
      expect(cluster.events.at(-1)?.note).to.equal(`${disk}: removed env`)
    })

    it('leaves a tag that was there first', async () => {
      const { cluster, claim, app, tags } = start({ tags: { team: 'finance' } })
      await app.pass(claim.key)
      cluster.label(claim, {})

      await app.pass(claim.key)

      expect(tags()).to.deep.equal({ team: 'core' })
    })

    it('leaves a tag whose value was changed by hand since', async () => {
      const { cluster, cloud, claim, app, tags } = start()
      await app.pass(claim.key)
      cloud.setByHand(disk, 'team', 'by hand')
      cluster.label(claim, {})

      await app.pass(claim.key)

      expect(tags()).to.deep.equal({ team: 'by hand' })
    })
  })

  it('D11: repairs a tag that was changed by hand when drift is suspected', async () => {
    const { cloud, claim, app, tags } = start()
    await app.pass(claim.key)
    cloud.setByHand(disk, 'team', 'by hand')
    expect(await app.pass(claim.key)).to.deep.equal({ kind: 'in-sync' })

    await app.pass(claim.key, { observe: true })

    expect(tags()).to.deep.equal({ team: 'core' })
  })

  it('B12: tags nothing for a claim that names the volume of another claim', async () => {
    const { cluster, cloud, app, tags } = start()
    const evil = cluster.put({ namespace: 'evil', name: 'thief', uid: 'u-evil', labels: { owner: 'evil' } })

    expect(await app.pass(evil.key)).to.deep.equal({ kind: 'skipped', reason: 'volume-of-another-claim' })

    expect(tags()).to.deep.equal({})
    expect(cloud.calls).to.deep.equal({ getTags: 0, applyChanges: 0, listTags: 0 })
  })

  it("takes the old claim's tags off a rebound volume and puts the new one's on", async () => {
    const { cluster, claim, app, tags } = start({ claim: { labels: { team: 'core', old: 'x' } } })
    await app.pass(claim.key)
    const next = cluster.put({ name: 'data-1', uid: 'claim-uid-2', labels: { team: 'new' } })
    const applied = cluster.volumes.get('pv-1')?.applied
    cluster.putVolume({ claimRef: { namespace: 'db', name: 'data-1', uid: 'claim-uid-2' }, applied })

    await app.pass(next.key)

    expect(tags()).to.deep.equal({ team: 'new' })
  })

  it('D6: removes nothing on the word of a record that was made for another volume', async () => {
    const { cluster, claim, app, tags, record } = start({ tags: { env: 'prod' } })
    const foreign: AppliedRecord = {
      volumeUid: 'another cluster',
      claimUid: 'x',
      cloud: 'aws',
      diskId: disk,
      settledAtMs: 0,
      settled: new Map([['env', { value: 'prod', before: false }]]),
      left: new Map(),
      intent: undefined,
    }
    cluster.putVolume({ applied: serializeRecord(foreign) })

    await app.pass(claim.key)

    expect(tags()).to.deep.equal({ env: 'prod', team: 'core' })
    expect(record()?.volumeUid).to.equal('volume-uid-1')
  })

  it('adds tags, removes none and leaves the record alone when its version is unknown', async () => {
    const { cluster, claim, app, tags } = start({ tags: { env: 'prod' } })
    const applied = '{"version":99,"settled":{"env":"prod"}}'
    cluster.putVolume({ applied })

    await app.pass(claim.key)

    expect(tags()).to.deep.equal({ env: 'prod', team: 'core' })
    expect(cluster.volumes.get('pv-1')?.applied).to.equal(applied)
    expect(cluster.reasons()).to.include('RecordUnreadable')
  })

  it('waits until the store holds what admission reviewed', async () => {
    const { cluster, claim, app } = start()

    const reviewed = { newerThan: claim.resourceVersion, uid: claim.uid }

    expect(await app.pass(claim.key, reviewed)).to.deep.equal({ kind: 'stale', found: true })
    expect(await app.pass(claim.key, { uid: 'a later one' })).to.deep.equal({ kind: 'stale', found: false })
    cluster.label(claim, { team: 'infra' })
    expect(await app.pass(claim.key, reviewed)).to.have.property('kind', 'tagged')
  })

  it('reads claim and volume at once when the review named the volume', async () => {
    const { cluster, claim, app } = start()

    await app.pass(claim.key, { volumeName: 'pv-1' })

    expect(cluster.calls.slice(0, 2)).to.deep.equal(['get volume', 'get claim'])
  })

  describe('when the cloud fails', () => {
    it('keeps the intent open after an answer that was lost, looks, and ends right', async () => {
      const { cloud, claim, app, tags, record, clock } = start()
      const lost = new ProviderError('unavailable', 'lost', { outcomeUnknown: true })
      cloud.failNext(lost, { method: 'applyChanges', afterWrite: true })
      expect(await app.pass(claim.key)).to.deep.include({ kind: 'cloud-failure', reason: 'unavailable' })
      expect(record()?.intent?.touched.get('team')?.values).to.deep.equal(['core'])

      const again = await app.pass(claim.key, { observe: true })

      expect(tags()).to.deep.equal({ team: 'core' })
      expect(again).to.have.property('kind', 'in-sync')
      expect(record()?.intent).to.not.equal(undefined)
      await clock.step(75_000)
      await app.pass(claim.key, { observe: true })
      expect(record()?.intent).to.equal(undefined)
      expect(record()?.settled.get('team')).to.deep.equal({ value: 'core', before: false })
    })

    for (const kind of ['denied', 'invalid', 'not-found'] as const) {
      it(`closes the intent after ${kind}, so that nobody waits for it`, async () => {
        const { cloud, claim, app, record } = start()
        cloud.failNext(new ProviderError(kind, 'no'), { method: 'applyChanges' })

        const outcome = await app.pass(claim.key)

        expect(outcome).to.deep.include({ kind: 'cloud-failure', reason: kind, observed: true })
        expect(record()?.intent).to.equal(undefined)
        expect(record()?.settled.size).to.equal(0)
      })
    }

    it('needs no waiting after a throttle: nothing of it can land late', async () => {
      const { cloud, claim, app, record } = start()
      cloud.failNext(new ProviderError('throttled', 'slow', { retryAfterMs: 100 }), { method: 'applyChanges' })
      await app.pass(claim.key)

      const outcome = await app.pass(claim.key, { observe: true })

      expect(outcome).to.have.property('kind', 'tagged')
      expect(outcome).to.not.have.property('recheckAfterMs')
      expect(record()?.intent).to.equal(undefined)
    })
  })

  it('closes an intent that came to nothing when its label is taken back', async () => {
    const { cluster, cloud, claim, app, record } = start()
    await app.pass(claim.key)
    cluster.label(claim, { team: 'infra' })
    cloud.failNext(new ProviderError('throttled', 'slow'), { method: 'applyChanges' })
    await app.pass(claim.key)
    expect(record()?.intent).to.not.equal(undefined)
    cluster.label(claim, { team: 'core' })

    expect(await app.pass(claim.key)).to.deep.equal({ kind: 'in-sync' })

    expect(record()?.intent).to.equal(undefined)
    expect(cloud.calls.getTags).to.equal(1)
  })

  describe('with two processes', () => {
    it('leaves a disk alone while the other has announced a change, and takes over after its deadline', async () => {
      const { cloud, claim, app, process, tags, clock } = start()
      cloud.failNext(new ProviderError('unavailable', 'hung', { outcomeUnknown: true }), { method: 'applyChanges' })
      await app.pass(claim.key)
      const other = process({ identity: 'pod-b' })

      const busy = await other.pass(claim.key)

      expect(busy).to.deep.equal({ kind: 'busy', by: 'pod-a', retryAfterMs: 70_500 })
      await clock.step(70_500)
      expect(await other.pass(claim.key, { observe: true })).to.have.property('kind', 'tagged')
      expect(tags()).to.deep.equal({ team: 'core' })
    })

    it('ends right when a write lands 20 s after its client gave up, while the other removes the label', async () => {
      const { cluster, cloud, claim, app, process, tags, record, clock } = start()
      const other = process({ identity: 'pod-b' })
      cloud.failNext(new ProviderError('unavailable', 'hung', { outcomeUnknown: true }), { method: 'applyChanges' })
      await app.pass(claim.key)
      await clock.step(5_000)
      // The retry of the first process succeeds, and still it does not take the matter for closed.
      const retried = await app.pass(claim.key, { observe: true })
      expect(retried).to.have.property('recheckAfterMs')
      cluster.label(claim, {})
      const second = await other.pass(claim.key)
      expect(second).to.have.property('kind', 'busy')
      // Removed by the first process meanwhile, and then put back by the call that everybody had given up.
      await app.pass(claim.key, { observe: true })
      expect(tags()).to.deep.equal({})
      await clock.step(25_000)
      cloud.setByHand(disk, 'team', 'core')

      await clock.step(75_000)
      await other.pass(claim.key, { observe: true })

      expect(tags()).to.deep.equal({})
      expect(record()?.settled.size).to.equal(0)
      expect(record()?.intent).to.equal(undefined)
    })

    it('asks to be called again when the record moved before it could be closed', async () => {
      const { cluster, claim, app } = start()
      cluster.before = (call) => {
        if (call === 'settle record') cluster.putVolume({ ...cluster.volumes.get('pv-1'), applied: undefined })
      }

      await app.pass(claim.key)

      expect(app.unsettled).to.deep.equal([claim.key])
    })
  })

  it('knows after two kills in a row what the first of them left on the disk', async () => {
    const { cluster, claim, process, tags, clock } = start({ claim: { labels: { first: '1' } } })
    await process({ killedAt: 'after write tags' }).pass(claim.key)
    cluster.label(claim, { first: '1', second: '2' })
    await process({ killedAt: 'after write tags' }).pass(claim.key)
    expect(tags()).to.deep.equal({ first: '1', second: '2' })
    cluster.label(claim, {})
    await clock.step(75_000)

    await process().pass(claim.key)

    expect(tags()).to.deep.equal({})
  })

  describe('killed at any step', () => {
    const prepared = () => {
      const world = start({
        tags: { foreign: 'keep', env: 'finance' },
        claim: { labels: { team: 'core', gone: 'soon' } },
      })
      return { ...world, wish: { foreign: 'keep', env: 'prod', team: 'infra' } }
    }
    const change = async ({ cluster, claim, app }: ReturnType<typeof prepared>) => {
      await app.pass(claim.key)
      cluster.label(claim, { team: 'infra', env: 'prod' })
    }

    it('passes the steps that the next tests kill it at', async () => {
      const world = prepared()
      await change(world)
      const undisturbed = world.process()

      await undisturbed.pass(world.claim.key)

      expect(undisturbed.steps).to.deep.equal(
        ['get claim', 'get volume', 'read tags', 'open record', 'write tags', 'settle record'].flatMap((step) => [
          `before ${step}`,
          `after ${step}`,
        ]),
      )
      expect(world.tags()).to.deep.equal(world.wish)
    })

    for (const step of ['get claim', 'get volume', 'read tags', 'open record', 'write tags', 'settle record']) {
      for (const when of ['before', 'after']) {
        for (const successor of ['pod-a', 'pod-b']) {
          it(`ends right: ${when} ${step}, gone on by ${successor === 'pod-a' ? 'itself' : 'another process'}`, async () => {
            const world = prepared()
            const { claim, process, tags, record, clock, wish } = world
            await change(world)
            expect(await process({ killedAt: `${when} ${step}` }).pass(claim.key)).to.be.oneOf(['killed', undefined])

            const next = process({ identity: successor })
            const first = await next.pass(claim.key, { observe: true })
            if (first !== 'killed' && first.kind === 'busy') await clock.step(first.retryAfterMs)
            else await clock.step(75_000)
            await next.pass(claim.key, { observe: true })

            expect(tags()).to.deep.equal(wish)
            expect([...(record()?.settled ?? [])]).to.have.deep.members([
              ['team', { value: 'infra', before: false }],
              ['env', { value: 'prod', before: true }],
            ])
            expect(record()?.intent).to.equal(undefined)
          })
        }
      }
    }
  })
})
