import { expect } from 'chai'
import { FakeClock, settle } from '../../testing/fake-clock.ts'
import { mergeHints, isLaterVersion } from './hints.ts'
import type { Hints } from './hints.ts'
import { KeyedLock } from './keyed-lock.ts'
import { ExponentialRateLimiter } from './rate-limiters.ts'
import { WorkQueue } from './work-queue.ts'
import { Workers } from './workers.ts'

const fresh: Hints = { lane: 'fresh' }
const bulk: Hints = { lane: 'bulk' }

function start(capacity?: number) {
  const clock = new FakeClock()
  const queue = new WorkQueue<string, Hints>({ clock, merge: mergeHints, ...(capacity !== undefined && { capacity }) })
  return { clock, queue }
}

async function taken(queue: WorkQueue<string, Hints>, count: number): Promise<string[]> {
  const keys: string[] = []
  for (let i = 0; i < count; i++) keys.push((await queue.get())?.key ?? 'none')
  return keys
}

describe('WorkQueue', () => {
  it('hands keys out in the order in which they came', async () => {
    const { queue } = start()
    for (const key of ['a', 'b', 'c']) queue.add(key, fresh)

    expect(await taken(queue, 3)).to.deep.equal(['a', 'b', 'c'])
  })

  it('hands a key out once however often it was added, with the stricter of all hints', async () => {
    const { queue } = start()
    queue.add('a', { lane: 'bulk', newerThan: '99', observe: true })
    queue.add('a', { lane: 'fresh', newerThan: '100', uid: 'u' })
    queue.add('a', { lane: 'bulk', newerThan: '7' })

    const item = await queue.get()

    expect(item?.hints).to.deep.equal({ lane: 'fresh', newerThan: '100', uid: 'u', observe: true })
    expect(queue.readyCount).to.equal(0)
  })

  it('never gives one key to two workers, and gives it again when it was added meanwhile', async () => {
    const { queue } = start()
    queue.add('a', fresh)
    await queue.get()
    queue.add('a', { lane: 'fresh', observe: true })
    const second = queue.get()
    let handedOut = false
    void second.then(() => (handedOut = true))
    await settle()
    expect(handedOut).to.equal(false)

    queue.done('a')

    expect(await second).to.deep.equal({ key: 'a', hints: { lane: 'fresh', observe: true }, waitedMs: 0 })
  })

  it('takes fresh keys first and lets the bulk lane through now and then', async () => {
    const { queue } = start()
    queue.add('bulk', bulk)
    for (let i = 0; i < 20; i++) queue.add(`fresh-${i}`, fresh)

    const keys = await taken(queue, 21)

    expect(keys[0]).to.equal('fresh-0')
    expect(keys.indexOf('bulk')).to.equal(15)
  })

  it('moves a waiting key to the fresh lane when a live change meets it', async () => {
    const { queue } = start()
    for (const key of ['a', 'b', 'c']) queue.add(key, bulk)
    queue.add('c', fresh)

    expect(await taken(queue, 3)).to.deep.equal(['c', 'a', 'b'])
  })

  it('waits as long as it was told, and the earlier of two delays wins', async () => {
    const { clock, queue } = start()
    queue.addAfter('a', fresh, 1000)
    queue.addAfter('a', { lane: 'fresh', observe: true }, 200)
    queue.addAfter('a', fresh, 5000)

    await clock.step(199)
    expect(queue.readyCount).to.equal(0)
    await clock.step(1)
    expect((await queue.get())?.hints.observe).to.equal(true)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('refuses new keys when it is full, and still merges those that it has', () => {
    const { queue } = start(2)
    queue.add('a', fresh)
    queue.addAfter('b', fresh, 1000)

    expect(queue.add('c', fresh)).to.equal(false)
    expect(queue.addAfter('d', fresh, 10)).to.equal(false)
    expect(queue.add('a', fresh)).to.equal(true)
    expect(queue.add('b', fresh)).to.equal(true)
  })

  it('tells takers about its shutdown and leaves no timer', async () => {
    const { clock, queue } = start()
    const taker = queue.get()
    queue.addAfter('a', fresh, 1000)

    queue.shutDown()

    expect(await taker).to.equal(undefined)
    expect(await queue.get()).to.equal(undefined)
    expect(queue.add('b', fresh)).to.equal(false)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('knows how long its oldest key has waited', async () => {
    const { clock, queue } = start()
    queue.add('a', bulk)
    await clock.step(300)
    queue.add('b', fresh)

    expect(queue.oldestReadyMs).to.equal(300)
  })
})

describe('Workers', () => {
  it('work on as many keys at once as they may, and no more', async () => {
    const { clock, queue } = start()
    const gates = new Map<string, () => void>()
    const work = ({ key }: { key: string }) => new Promise<void>((resolve) => gates.set(key, resolve))
    const workers = new Workers({ queue, clock, concurrency: 2, work })
    workers.start()
    for (const key of ['a', 'b', 'c']) queue.add(key, fresh)
    await settle()
    expect([...gates.keys()]).to.deep.equal(['a', 'b'])

    gates.get('a')?.()
    await clock.step(50)

    expect([...gates.keys()]).to.deep.equal(['a', 'b', 'c'])
    expect(workers.withoutProgressMs).to.equal(50)
    queue.shutDown()
    gates.get('b')?.()
    gates.get('c')?.()
    await workers.finished()
    expect(workers.busy).to.equal(0)
  })
})

describe('ExponentialRateLimiter', () => {
  it('doubles up to its ceiling, takes at most a quarter away, and forgets', () => {
    const none = new ExponentialRateLimiter<string>({ baseMs: 100, capMs: 1000, random: { next: () => 0 } })
    const most = new ExponentialRateLimiter<string>({ baseMs: 100, capMs: 1000, random: { next: () => 0.999_999 } })

    expect([1, 2, 3, 4, 5, 6].map(() => none.when('a'))).to.deep.equal([100, 200, 400, 800, 1000, 1000])
    expect(most.when('a')).to.be.within(75, 100)
    expect(none.numRequeues('a')).to.equal(6)
    none.forget('a')
    expect(none.when('a')).to.equal(100)
  })

  it('stays at its ceiling after thousands of failures', () => {
    const limiter = new ExponentialRateLimiter<string>({ baseMs: 5, capMs: 60_000, random: { next: () => 0 } })
    for (let i = 0; i < 5000; i++) limiter.when('a')

    expect(limiter.when('a')).to.equal(60_000)
  })
})

describe('KeyedLock', () => {
  it('lets one in at a time for each key, in order, and a failure does not lock it', async () => {
    const lock = new KeyedLock<string>()
    const seen: string[] = []
    const slow = (name: string) => async () => {
      seen.push(`${name} in`)
      await settle()
      seen.push(`${name} out`)
      if (name === 'first') throw new Error('it failed')
    }

    const results = await Promise.allSettled([
      lock.run('disk', slow('first')),
      lock.run('disk', slow('second')),
      lock.run('other', slow('elsewhere')),
    ])

    expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled', 'fulfilled'])
    expect(seen.indexOf('second in')).to.be.greaterThan(seen.indexOf('first out'))
    expect(seen.indexOf('elsewhere in')).to.be.lessThan(seen.indexOf('first out'))
  })
})

describe('resource versions', () => {
  it('compare as numbers of any length', () => {
    expect(isLaterVersion('100', '99')).to.equal(true)
    expect(isLaterVersion('99', '100')).to.equal(false)
    expect(isLaterVersion('100', '100')).to.equal(false)
    expect(isLaterVersion('90071992547409930', '90071992547409929')).to.equal(true)
  })
})
