import { expect } from 'chai'
import { FakeClock, settle } from '../../../testing/fake-clock.ts'
import type { TagChanges } from '../../plan/tag-changes.ts'
import { AccountBudget } from '../account-budget.ts'
import { ProviderError } from '../provider-error.ts'
import type { ObservedTags, WriteOptions } from '../provider.ts'
import { SlowLane } from '../slow-lane.ts'
import { budgetProfiles } from './budget-profiles.ts'
import { DiskWriter } from './disk-writer.ts'
import { SettlingDisks } from './settling-disks.ts'

const quietMs = 5000
const map = (entries: Readonly<Record<string, string>>) => new Map(Object.entries(entries))

function changes(
  set: Readonly<Record<string, string>>,
  remove: Readonly<Record<string, readonly string[]>> = {},
): TagChanges {
  return { set: map(set), remove: new Map(Object.entries(remove)) }
}

/** A writer whose disks hold `tags` whatever is written; `calls` is what it called, with the time. */
function start(tags: Readonly<Record<string, string>> = {}) {
  const clock = new FakeClock()
  const budget = new AccountBudget({ clock, rates: budgetProfiles.exclusive.arm, share: 1 })
  const slowLane = new SlowLane({ clock, random: { next: () => 0.5 } })
  const settling = new SettlingDisks({ clock, quietMs })
  const calls: string[] = []
  const failures: ProviderError[] = []
  const answer = { patch: 'accepted' as 'done' | 'accepted', takesMs: 0 }
  const called = async (what: string) => {
    calls.push(`${clock.monotonicMs()} ${what}`)
    if (answer.takesMs > 0) await new Promise<void>((resolve) => clock.setTimer(answer.takesMs, resolve))
    const failure = failures.shift()
    if (failure !== undefined) throw failure
  }
  const writer = new DiskWriter({
    clock,
    budget,
    slowLane,
    settling,
    read: async (disk) => {
      await called(`read ${disk}`)
      return { tags: map(tags) }
    },
    patch: async (disk, operation, patched) => {
      await called(`${operation} ${disk} ${JSON.stringify(Object.fromEntries(patched))}`)
      return answer.patch
    },
  })
  const write = (
    wanted: TagChanges,
    more: { disk?: string; observed?: ObservedTags; options?: Partial<WriteOptions> } = {},
  ) => {
    const options: WriteOptions = { lane: 'fresh', signal: new AbortController().signal, ...more.options }
    const outcome = writer.apply({ disk: more.disk ?? 'd', changes: wanted, observed: more.observed, options })
    return outcome.then(
      () => 'ok',
      (error: unknown) => error,
    )
  }
  return { clock, budget, slowLane, calls, failures, answer, writer, write }
}

const observed = (tags: Readonly<Record<string, string>>): ObservedTags => ({ tags: map(tags) })
const tokens = (budget: AccountBudget) =>
  Object.fromEntries(budget.status().map(({ operation, tokens }) => [operation, tokens]))

describe('writing an Azure disk', () => {
  it('is one Merge where tags are set', async () => {
    const { calls, clock, write } = start()

    const outcome = write(changes({ a: '1', b: '2' }))
    await clock.step(0)

    expect(await outcome).to.equal('ok')
    expect(calls).to.deep.equal(['0 Merge d {"a":"1","b":"2"}'])
  })

  it('reads before it deletes, and deletes only what stands there under a value of ours', async () => {
    const { calls, clock, write } = start({ mine: '2', theirs: 'x', empty: '' })

    const outcome = write(changes({}, { mine: ['1', '2'], theirs: ['1'], gone: ['1'], empty: [''] }))
    await clock.step(0)

    expect(await outcome).to.equal('ok')
    expect(calls).to.deep.equal(['0 read d', '0 Delete d {"mine":"2","empty":""}'])
  })

  it('rests on what the caller observed, unless it waited for long', async () => {
    const first = start({ mine: 'changed' })
    const late = start({ mine: 'changed' })
    const wanted = changes({}, { mine: ['1'] })
    late.budget.throttled('UpdateTags', { sentAtMs: 0, retryAfterMs: 31_000 })

    const outcomes = [
      first.write(wanted, { observed: observed({ mine: '1' }) }),
      late.write(wanted, { observed: observed({ mine: '1' }) }),
    ]
    await first.clock.step(0)
    await late.clock.step(32_000)

    expect(await Promise.all(outcomes)).to.deep.equal(['ok', 'ok'])
    expect(first.calls).to.deep.equal(['0 Delete d {"mine":"1"}'])
    expect(late.calls).to.have.length(1)
    expect(late.calls[0]).to.match(/ read d$/)
  })

  it('makes no call, and no promise, where there is nothing to do', async () => {
    const { calls, write } = start()
    let promised = 0

    const outcome = await write(changes({}, { a: [] }), {
      options: { beforeSend: () => Promise.resolve(++promised) },
    })

    expect([outcome, promised, calls]).to.deep.equal(['ok', 0, []])
  })

  it('takes no tag away whose name it sets in another case', async () => {
    const { calls, clock, write } = start({ App: '1' })

    const outcome = write(changes({ app: '2' }, { App: ['1'] }))
    await clock.step(0)

    expect(await outcome).to.equal('ok')
    expect(calls).to.deep.equal(['0 Merge d {"app":"2"}'])
  })

  it('deletes first, and merges when the disk has had its rest', async () => {
    const { calls, clock, write } = start({ old: '1' })

    const outcome = write(changes({ new: '2' }, { old: ['1'] }))
    await clock.step(quietMs)

    expect(await outcome).to.equal('ok')
    expect(calls).to.deep.equal(['0 read d', '0 Delete d {"old":"1"}', `${quietMs} Merge d {"new":"2"}`])
  })

  it('merges at once where the Delete was done, or had nothing to do', async () => {
    const done = start({ old: '1' })
    done.answer.patch = 'done'
    const nothing = start()

    const outcomes = [done, nothing].map(({ write }) => write(changes({ new: '2' }, { old: ['1'] })))
    await done.clock.step(0)
    await nothing.clock.step(0)

    expect(await Promise.all(outcomes)).to.deep.equal(['ok', 'ok'])
    expect(done.calls.at(-1)).to.equal('0 Merge d {"new":"2"}')
    expect(nothing.calls).to.deep.equal(['0 read d', '0 Merge d {"new":"2"}'])
  })

  it('leaves a disk alone for a while after each write, without a promise open and without holding up others', async () => {
    const { calls, clock, write } = start()
    let promisedAtMs = -1
    const beforeSend = async () => {
      promisedAtMs = clock.monotonicMs()
      return Infinity
    }

    const outcomes = [write(changes({ a: '1' }))]
    await clock.step(1000)
    outcomes.push(
      write(changes({ a: '2' }), { options: { beforeSend } }),
      write(changes({ b: '1' }), { disk: 'other' }),
    )
    await clock.step(quietMs)

    expect(await Promise.all(outcomes)).to.deep.equal(['ok', 'ok', 'ok'])
    expect(calls).to.deep.equal(['0 Merge d {"a":"1"}', '1000 Merge other {"b":"1"}', `${quietMs} Merge d {"a":"2"}`])
    expect(promisedAtMs).to.equal(quietMs)
  })

  it('leaves a disk alone also after a write that nobody answered', async () => {
    const { calls, clock, failures, write } = start()
    failures.push(new ProviderError('unavailable', 'lost', { outcomeUnknown: true }))

    const first = write(changes({ a: '1' }))
    await clock.step(0)
    const second = write(changes({ a: '1' }))
    await clock.step(quietMs)

    expect(await first).to.include({ kind: 'unavailable', outcomeUnknown: true })
    expect(await second).to.equal('ok')
    expect(calls.map((call) => call.split(' ')[0])).to.deep.equal(['0', String(quietMs)])
  })

  it('sends nothing after its deadline, and says what it may have done by then', async () => {
    const { calls, clock, write } = start({ old: '1' })

    const outcome = write(changes({ new: '2' }, { old: ['1'] }), {
      options: { beforeSend: async () => clock.monotonicMs() + quietMs - 1 },
    })
    await clock.step(quietMs)

    expect(await outcome).to.include({ kind: 'unavailable', outcomeUnknown: true })
    expect(calls).to.have.length(2)
  })

  it('ends with nothing known to be done where the read took too long', async () => {
    const { answer, calls, clock, write } = start({ old: '1' })
    answer.takesMs = 100

    const outcome = write(changes({}, { old: ['1'] }), {
      options: { beforeSend: async () => clock.monotonicMs() + 50 },
    })
    await clock.step(100)

    expect(await outcome).to.include({ kind: 'unavailable', outcomeUnknown: false })
    expect(calls).to.deep.equal(['0 read d'])
  })

  it('sets what is to be set also where it may not read or delete, and says so', async () => {
    const { calls, clock, failures, write } = start({ old: '1' })
    failures.push(new ProviderError('denied', 'no'))

    const outcome = write(changes({ new: '2' }, { old: ['1'] }))
    await clock.step(0)

    expect(await outcome).to.include({ kind: 'denied', outcomeUnknown: true })
    expect(calls).to.deep.equal(['0 read d', '0 Merge d {"new":"2"}'])
  })

  it('does not merge where it is throttled, or where the disk is gone', async () => {
    for (const kind of ['throttled', 'not-found', 'conflict', 'unavailable'] as const) {
      const { calls, clock, failures, write } = start({ old: '1' })
      failures.push(new ProviderError(kind, 'no'))

      const outcome = write(changes({ new: '2' }, { old: ['1'] }))
      await clock.step(0)

      expect(await outcome).to.include({ kind, outcomeUnknown: false })
      expect(calls).to.deep.equal(['0 read d'])
    }
  })

  it('pays for the calls that it made, and for no others', async () => {
    const { budget, clock, write } = start({ old: '1' })
    const before = tokens(budget)

    const outcomes = [
      write(changes({ a: '1' }), { disk: '1' }),
      write(changes({}, { old: ['1'] }), { disk: '2' }),
      write(changes({}, { gone: ['1'] }), { disk: '3' }),
      write(changes({}, { gone: ['1'] }), { disk: '4', observed: observed({}) }),
      write(changes({ a: '1' }), { disk: '5', options: { beforeSend: () => Promise.reject(new Error('raced')) } }),
      write(changes({ a: '1' }), { disk: '6', options: { beforeSend: async () => -1 } }),
    ]
    await clock.step(0)
    await Promise.all(outcomes)

    const after = tokens(budget)
    expect(before['UpdateTags']! - after['UpdateTags']!).to.equal(2)
    expect(before['GetTags']! - after['GetTags']!).to.equal(2)
  })

  it('goes slow after two disks were denied, and then lets one try', async () => {
    const { calls, clock, failures, slowLane, write } = start()
    const denied = () => new ProviderError('denied', 'no')
    failures.push(denied(), denied())

    const first = [write(changes({ a: '1' }), { disk: '1' }), write(changes({ a: '1' }), { disk: '2' })]
    await clock.step(0)
    await Promise.all(first)
    const refused = await write(changes({ a: '1' }), { disk: '3' })
    await clock.step(400_000)
    const [probe, other] = [write(changes({ a: '1' }), { disk: '4' }), write(changes({ a: '1' }), { disk: '5' })]
    await clock.step(0)

    expect(refused).to.include({ kind: 'denied', code: 'SlowLane' })
    expect(await probe).to.equal('ok')
    expect(await other).to.include({ code: 'SlowLane' })
    expect(calls).to.have.length(3)
    // What ends the slow lane is a success that was counted, which is not this class's to do.
    expect(slowLane.isSlow('UpdateTags')).to.equal(true)
  })

  it('waits for a promise that comes late, and sends the others meanwhile', async () => {
    const { calls, clock, write } = start()
    const late = Promise.withResolvers<number>()

    const outcomes = [
      write(changes({ a: '1' }), { disk: 'late', options: { beforeSend: () => late.promise } }),
      write(changes({ a: '1' }), { disk: 'other' }),
    ]
    await clock.step(3000)
    late.resolve(Infinity)
    await clock.step(0)

    expect(await Promise.all(outcomes)).to.deep.equal(['ok', 'ok'])
    expect(calls).to.deep.equal(['0 Merge other {"a":"1"}', '3000 Merge late {"a":"1"}'])
  })

  it('leaves fresh changes their part of the burst, and keeps few calls in flight', async () => {
    const { answer, calls, clock, write } = start()
    answer.takesMs = 100

    const bulk = Array.from({ length: 400 }, (_, i) =>
      write(changes({ a: '1' }), { disk: `bulk-${i}`, options: { lane: 'bulk' } }),
    )
    await clock.step(10_000)
    const fresh = write(changes({ a: '1' }), { disk: 'fresh' })
    await clock.step(100)

    expect(await fresh).to.equal('ok')
    // Three in flight and 0.1 s each make 30 a second until three quarters of the burst are gone, then 8 a second.
    expect(calls.length).to.be.within(150, 230)
    await clock.step(60_000)
    await Promise.all(bulk)
  })

  it('gives up what waits when it stops, ends what is under way, and leaves no timer', async () => {
    const { answer, calls, clock, writer, write } = start({ old: '1' })
    answer.takesMs = 10

    const outcomes = [
      write(changes({ a: '1' }), { disk: 'sent' }),
      write(changes({ new: '1' }, { old: ['1'] }), { disk: 'between' }),
      ...Array.from({ length: 10 }, (_, i) => write(changes({ a: '1' }), { disk: `waiting-${i}` })),
    ]
    await clock.step(35)
    const stopped = writer.stop()
    await clock.step(10)
    await stopped
    await settle()

    const ended = await Promise.all(outcomes)
    expect(ended[0]).to.equal('ok')
    expect(ended[1]).to.include({ kind: 'unavailable', outcomeUnknown: true })
    expect(calls.filter((call) => call.includes('"new"'))).to.deep.equal([])
    expect(clock.pendingTimers).to.equal(0)
  })
})
