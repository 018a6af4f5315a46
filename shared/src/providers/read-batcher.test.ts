import { expect } from 'chai'
import { FakeClock, settle } from '../../testing/fake-clock.ts'
import { AccountBudget } from './account-budget.ts'
import type { CallOptions, Lane, ObservedTags } from './provider.ts'
import { ProviderError } from './provider-error.ts'
import { ReadBatcher } from './read-batcher.ts'
import { SlowLane } from './slow-lane.ts'

interface Options {
  readonly burst?: number
  readonly perSecond?: number
  readonly fail?: (disks: readonly string[]) => ProviderError | undefined
  /** Calls that each read takes, beyond the first. */
  readonly furtherCalls?: number
}

function startWith({ burst = 40, fail = () => undefined, furtherCalls = 0, perSecond = 10 }: Options = {}) {
  const clock = new FakeClock()
  const budget = new AccountBudget({ clock, rates: { Read: { burst, perSecond } }, share: 1 })
  const slowLane = new SlowLane({ clock, random: { next: () => 0.5 } })
  const upstream: Record<Lane, number> = { fresh: 0, bulk: 0 }
  const sent: (readonly string[])[] = []
  const batcher = new ReadBatcher({
    clock,
    budget,
    slowLane,
    expecting: (lane) => upstream[lane],
    port: {
      name: 'Read',
      idsPerCall: 500,
      codes: { isAboutTags: () => false, isUnexplained: () => false },
      async read(disks, pace) {
        sent.push(disks)
        await new Promise<void>((resolve) => clock.setTimer(100, resolve))
        for (let i = 0; i < furtherCalls; i++) await pace()
        const error = fail(disks)
        if (error !== undefined) throw error
        slowLane.succeeded('Read')
        const known = disks.filter((disk) => !disk.startsWith('gone'))
        return new Map(known.map((disk) => [disk, observed(disk)]))
      },
    },
  })
  return { batcher, budget, clock, sent, slowLane, upstream }
}

const observed = (disk: string): ObservedTags => ({ tags: new Map([['disk', disk]]) })
const disksOf = (count: number) => Array.from({ length: count }, (_, i) => `disk-${i}`)
const options = (lane: Lane = 'fresh'): CallOptions => ({ lane, signal: new AbortController().signal })

/** What became of each: its own name, read back, or the kind of its error. */
async function readAll(batcher: ReadBatcher, disks: readonly string[], lane: Lane = 'fresh'): Promise<string[]> {
  const results = await Promise.allSettled(disks.map((disk) => batcher.read(disk, options(lane))))
  return results.map((result) => {
    if (result.status === 'fulfilled') return result.value.tags.get('disk') ?? ''
    return result.reason instanceof ProviderError ? result.reason.kind : String(result.reason)
  })
}

describe('ReadBatcher', () => {
  it('reads at once when idle, all of one turn in one call, each disk once', async () => {
    const { batcher, clock, sent } = startWith()

    const reads = readAll(batcher, ['a', 'b', 'a', 'gone'])
    await clock.step(100)

    expect(await reads).to.deep.equal(['a', 'b', 'a', 'not-found'])
    expect(sent).to.deep.equal([['a', 'b', 'gone']])
    expect(clock.pendingTimers).to.equal(0)
  })

  it('splits what does not fit into one call', async () => {
    const { batcher, clock, sent } = startWith()

    const reads = readAll(batcher, disksOf(1200), 'bulk')
    await clock.step(1000)

    expect(await reads).to.deep.equal(disksOf(1200))
    expect(sent.map(({ length }) => length)).to.deep.equal([500, 500, 200])
  })

  it('pays for every further call of a read', async () => {
    const { batcher, budget, clock } = startWith({ furtherCalls: 2, perSecond: 0.001 })

    const read = readAll(batcher, ['a'])
    await clock.step(100)

    expect(await read).to.deep.equal(['a'])
    expect(Math.round(budget.status()[0]?.tokens ?? 0)).to.equal(37)
  })

  it('fails all together when a call gets no answer', async () => {
    const { batcher, clock, sent } = startWith({ fail: () => new ProviderError('unavailable', 'silence') })

    const reads = readAll(batcher, disksOf(3))
    await clock.step(100)

    expect(await reads).to.deep.equal(['unavailable', 'unavailable', 'unavailable'])
    expect(sent).to.have.length(1)
  })

  it('goes slow only after two disks were denied singly, and then makes no call', async () => {
    const { batcher, clock, sent, slowLane } = startWith({ fail: () => new ProviderError('denied', 'no') })

    const reads = readAll(batcher, disksOf(500))
    await clock.step(5000)
    expect(new Set(await reads)).to.deep.equal(new Set(['denied']))
    expect(sent.map(({ length }) => length)).to.deep.equal([500, 250, 125, 63, 32, 16, 8, 4, 2, 1, 1])
    expect(slowLane.isSlow()).to.equal(true)

    sent.length = 0
    expect(await readAll(batcher, ['a'])).to.deep.equal(['denied'])
    await clock.step(300_000)
    const probes = readAll(batcher, ['a', 'b'])
    await clock.step(1000)
    expect(await probes).to.deep.equal(['denied', 'denied'])
    expect(sent).to.deep.equal([['a']])
  })

  it('gives up what was not sent and leaves nothing running', async () => {
    const { batcher, budget, clock, sent } = startWith()
    const underWay = readAll(batcher, ['a'])
    await settle()
    budget.throttled('Read', { sentAtMs: 0, retryAfterMs: 9000 })
    const waiting = readAll(batcher, ['b'])
    await settle()

    const stopping = batcher.stop()
    await clock.step(100)
    await stopping

    const all = [await underWay, await waiting, await readAll(batcher, ['c'])]
    expect(all).to.deep.equal([['a'], ['unavailable'], ['unavailable']])
    expect(sent).to.deep.equal([['a']])
    expect(clock.pendingTimers).to.equal(0)
  })

  describe('list', () => {
    async function listed(list: AsyncIterable<readonly [string, ObservedTags]>): Promise<string[]> {
      const found: string[] = []
      for await (const [disk] of list) found.push(disk)
      return found
    }

    it('reads page after page, as its reader takes them, and leaves out what is gone', async () => {
      const { batcher, clock, sent } = startWith()
      const list = batcher.list([...disksOf(700), 'gone'], options('bulk'))

      const first = list.next()
      await clock.step(100)
      expect((await first).value?.[0]).to.equal('disk-0')
      await clock.step(1000)
      expect(sent).to.have.length(1)

      const rest = listed(list)
      await clock.step(100)
      expect(await rest).to.have.length(699)
      expect(sent.map(({ length }) => length)).to.deep.equal([500, 201])
    })

    it('is paced, and leaves the last quarter of the burst to fresh reads', async () => {
      const { batcher, clock, sent } = startWith({ burst: 4, perSecond: 1 })

      const list = listed(batcher.list(disksOf(2500), options('bulk')))
      await clock.step(500)
      expect(sent).to.have.length(3)
      await clock.step(3000)

      expect(await list).to.have.length(2500)
    })

    it('rejects on the first page that cannot be read', async () => {
      const { batcher, clock } = startWith({
        fail: (disks) => (disks.includes('disk-600') ? new ProviderError('throttled', 'no') : undefined),
      })

      const list = listed(batcher.list(disksOf(1200), options('bulk'))).catch((error: unknown) => error)
      await clock.step(1000)

      expect(await list).to.be.instanceOf(ProviderError)
    })

    it('does not wait through a pause of an hour', async () => {
      const { batcher, budget, clock } = startWith()
      budget.throttled('Read', { sentAtMs: 0, retryAfterMs: 3_600_000 })

      const error = await listed(batcher.list(['a'], options('bulk'))).catch((thrown: unknown) => thrown)

      expect(error).to.include({ kind: 'throttled', retryAfterMs: 3_600_000 })
      expect(clock.pendingTimers).to.equal(0)
    })

    it('ends when aborted while it waits for its turn', async () => {
      const { batcher, budget, clock, sent } = startWith()
      budget.throttled('Read', { sentAtMs: 0, retryAfterMs: 9000 })
      const aborting = new AbortController()
      const list = listed(batcher.list(['a'], { lane: 'bulk', signal: aborting.signal })).catch(
        (error: unknown) => error,
      )
      await settle()

      aborting.abort()

      expect(await list).to.have.property('kind', 'unavailable')
      expect(sent).to.deep.equal([])
      expect(clock.pendingTimers).to.equal(0)
    })
  })
})
