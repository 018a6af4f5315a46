import { expect } from 'chai'
import { claim as aClaim, volume as aVolume } from '@k8s-cloud-tagger/shared/testing/builders.ts'
import { FakeClock, settle } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { taggingRules } from '@k8s-cloud-tagger/shared/testing/tagging-rules.ts'
import type { DiskRef } from '@k8s-cloud-tagger/shared/claims/disk.ts'
import type { AppliedRecord } from '@k8s-cloud-tagger/shared/plan/applied-record.ts'
import { serializeRecord } from '@k8s-cloud-tagger/shared/plan/record-codec.ts'
import { MemoryProvider } from '@k8s-cloud-tagger/shared/providers/memory/memory-provider.ts'
import { ProviderError } from '@k8s-cloud-tagger/shared/providers/provider-error.ts'
import type { ObservedTags } from '@k8s-cloud-tagger/shared/providers/provider.ts'
import { ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'
import { DriftSweep } from './drift-sweep.ts'

const lagMs = 120_000
const labels = { team: 'core' }

function start() {
  const clock = new FakeClock()
  const cache = new ClusterCache('aws')
  const cloud = Object.assign(new MemoryProvider({ clock, knownDisksOnly: true }), { readLagMs: lagMs })
  const repaired: string[] = []
  const state = { backlog: 0 }
  const onTheirWay = new Set<string>()
  const abort = new AbortController()
  const sweep = new DriftSweep({
    ...taggingRules({ provider: cloud, clock }),
    cache,
    clock,
    backlog: () => state.backlog,
    isOnItsWay: (key) => onTheirWay.has(key),
    repair: (key) => void repaired.push(key),
  })
  /** A claim, its volume with a record that was settled this long ago, and its disk. */
  const add = (
    name: string,
    tags: Record<string, string>,
    settledAgoMs = 3_600_000,
    more: Partial<AppliedRecord> = {},
  ) => {
    const disk = `vol-${name.replace('data-', '')}`
    const record: AppliedRecord = {
      volumeUid: name,
      claimUid: name,
      cloud: 'aws',
      diskId: disk,
      settledAtMs: clock.wallMs() - settledAgoMs,
      settled: new Map([['team', { value: 'core', before: false }]]),
      left: new Map(),
      intent: undefined,
      ...more,
    }
    const createdAtMs = clock.wallMs() - 86_400_000
    cache.putClaim(aClaim({ name, uid: name, volumeName: name, labels, createdAtMs }))
    cache.putVolume(
      aVolume({
        name,
        uid: name,
        claimRef: { namespace: 'db', name, uid: name },
        source: { kind: 'csi', driver: 'ebs.csi.aws.com', handle: disk },
        applied: serializeRecord(record),
      }),
    )
    cloud.addDisk(disk, tags)
    return disk
  }
  return { clock, cache, cloud, repaired, state, onTheirWay, abort, sweep, add, run: () => sweep.run(abort.signal) }
}

describe('DriftSweep', () => {
  it('sends by what differs, and nothing else; it writes nothing itself', async () => {
    const { cloud, repaired, add, run } = start()
    add('data-0', { team: 'core', foreign: 'x' })
    const changed = add('data-1', { team: 'by hand' })
    add('data-2', {})

    const result = await run()

    expect(result).to.deep.equal({ compared: 3, drifted: 2 })
    expect(repaired).to.deep.equal(['db/data-1', 'db/data-2'])
    expect(cloud.calls).to.deep.equal({ getTags: 0, applyChanges: 0, listTags: 1 })
    expect(cloud.tagsOf(changed)).to.deep.equal({ team: 'by hand' })
  })

  it('makes no call where there is nothing to compare', async () => {
    const { cloud, cache, run } = start()
    cache.putClaim(aClaim({ volumeName: undefined, labels }))

    expect(await run()).to.deep.equal({ compared: 0, drifted: 0 })

    expect(cloud.calls.listTags).to.equal(0)
  })

  it('leaves out records and changes that are younger than its reads may be', async () => {
    const { cloud, repaired, add, clock, run } = start()
    add('data-0', {}, lagMs - 1)
    add('data-1', {}, 3_600_000, { intent: { by: 'pod-a', untilMs: clock.wallMs(), touched: new Map() } })
    add('data-2', {}, lagMs + 1)
    const asked: string[] = []
    const listTags = cloud.listTags.bind(cloud)
    cloud.listTags = (disks, options) => {
      asked.push(...disks.map(({ id }) => id))
      return listTags(disks, options)
    }

    await run()

    expect(asked).to.deep.equal(['vol-2'])
    expect(repaired).to.deep.equal(['db/data-2'])
  })

  it('leaves out what is on its way already', async () => {
    const { repaired, onTheirWay, add, run } = start()
    add('data-0', {})
    onTheirWay.add('db/data-0')

    expect(await run()).to.deep.equal({ compared: 0, drifted: 0 })
    expect(repaired).to.deep.equal([])
  })

  it('leaves out disks that the cloud does not find', async () => {
    const { cloud, repaired, add, run } = start()
    cloud.removeDisk(add('data-0', {}))

    expect(await run()).to.deep.equal({ compared: 0, drifted: 0 })
    expect(repaired).to.deep.equal([])
  })

  it('reads a disk once that two claims name, and looks at both', async () => {
    const { cache, cloud, repaired, add, run } = start()
    const disk = add('data-0', {})
    add('data-1', {})
    cache.putVolume({
      ...cache.volumeNow('data-1')!,
      resourceVersion: '200',
      applied: undefined,
      source: { kind: 'csi', driver: 'ebs.csi.aws.com', handle: disk },
    })
    const asked: string[] = []
    const listTags = cloud.listTags.bind(cloud)
    cloud.listTags = (disks, options) => {
      asked.push(...disks.map(({ id }) => id))
      return listTags(disks, options)
    }

    await run()

    expect(asked).to.deep.equal([disk])
    expect(repaired).to.deep.equal(['db/data-0', 'db/data-1'])
  })

  it('judges by what the claim wishes when the answer is there, not when it was asked for', async () => {
    const { cache, cloud, repaired, add, run } = start()
    const disk = add('data-0', { team: 'core' })
    add('data-1', { team: 'core' })
    const gate = Promise.withResolvers<void>()
    const listTags = cloud.listTags.bind(cloud)
    cloud.listTags = async function* (disks, options) {
      await gate.promise
      yield* listTags(disks, options)
    }
    const running = run()
    await settle()
    const volume = cache.volumeNow('data-0')!
    cache.putVolume({ ...volume, resourceVersion: '200', applied: volume.applied?.replace('2025', '2026') })
    cloud.setByHand(disk, 'team', 'by hand')
    cache.dropClaim(cache.claimNow(aClaim({ name: 'data-1' }).key)!)
    gate.resolve()

    const { compared } = await running

    expect(compared).to.equal(0)
    expect(repaired).to.deep.equal([])
  })

  it('repairs while pages are still to come: nothing is collected first', async () => {
    const { cloud, repaired, add, run } = start()
    for (let i = 0; i < 3; i++) add(`data-${i}`, {})
    const next = Promise.withResolvers<void>()
    cloud.listTags = async function* (disks: readonly DiskRef[]) {
      const observed: ObservedTags = { tags: new Map() }
      for (const [i, disk] of disks.entries()) {
        if (i === 1) await next.promise
        yield { disk, observed }
      }
    }
    const running = run()
    await settle()
    expect(repaired).to.deep.equal(['db/data-0'])

    next.resolve()

    expect((await running).drifted).to.equal(3)
  })

  it('asks for a thousand disks at a time', async () => {
    const { cloud, add, run } = start()
    for (let i = 0; i < 2001; i++) add(`data-${i}`, { team: 'core' })

    expect(await run()).to.deep.equal({ compared: 2001, drifted: 0 })
    expect(cloud.calls.listTags).to.equal(3)
  })

  it('waits while more than a thousand keys wait for a worker', async () => {
    const { clock, cloud, state, add, run } = start()
    add('data-0', {})
    state.backlog = 1001
    const running = run()

    await clock.step(60_000)
    expect(cloud.calls.listTags).to.equal(0)
    state.backlog = 1000
    await clock.step(1000)

    expect((await running).drifted).to.equal(1)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('fails with the read that failed, and has repaired what it found before', async () => {
    const { cloud, repaired, add, run } = start()
    for (let i = 0; i < 1001; i++) add(`data-${i}`, {})
    let calls = 0
    const listTags = cloud.listTags.bind(cloud)
    cloud.listTags = (disks, options) => {
      if (++calls === 2) cloud.failNext(new ProviderError('throttled', 'too many'))
      return listTags(disks, options)
    }

    const error = await run().catch((error: unknown) => error)

    expect(error).to.have.property('kind', 'throttled')
    expect(repaired).to.have.length(1000)
  })

  it('ends when it is aborted, also while it waits', async () => {
    const { clock, cloud, state, abort, add, run } = start()
    add('data-0', {})
    state.backlog = 5000
    const running = run().catch((error: unknown) => error)
    await clock.step(5000)

    abort.abort(new Error('the term is over'))

    expect(await running).to.have.property('message', 'the term is over')
    expect(cloud.calls.listTags).to.equal(0)
    expect(clock.pendingTimers).to.equal(0)
  })
})
