import { expect } from 'chai'
import { FakeClock, settle } from '../../testing/fake-clock.ts'
import type { TagChanges } from '../plan/tag-changes.ts'
import { silentLogger } from '../runtime/logger.ts'
import { AccountBudget } from './account-budget.ts'
import { noCloudMetrics } from './cloud-metrics.ts'
import { MeteredCalls } from './metered.ts'
import type { Lane, WriteOptions } from './provider.ts'
import { ProviderError } from './provider-error.ts'
import { SlowLane } from './slow-lane.ts'
import { WriteBatcher } from './write-batcher.ts'

interface SentCall {
  readonly atMs: number
  readonly operation: 'set' | 'remove'
  readonly tags: string
  readonly disks: readonly string[]
}

interface Options {
  readonly burst?: number
  readonly perSecond?: number
  readonly latencyMs?: number
  /** What the cloud answers; undefined is success, 'silence' none at all. */
  readonly answer?: (call: SentCall) => ProviderError | 'silence' | undefined
}

function startWith({ answer = () => undefined, burst = 100, latencyMs = 100, perSecond = 10 }: Options = {}) {
  const clock = new FakeClock()
  const rate = { burst, perSecond }
  const budget = new AccountBudget({ clock, rates: { CreateTags: rate, DeleteTags: rate }, share: 1 })
  const slowLane = new SlowLane({ clock, random: { next: () => 0.5 } })
  const metered = new MeteredCalls({
    provider: 'aws',
    scope: 'test',
    clock,
    logger: silentLogger,
    metrics: noCloudMetrics,
    budget,
    slowLane,
    timeoutMs: 10_000,
    isKnownCode: () => true,
  })
  const sent: SentCall[] = []
  const upstream: Record<Lane, number> = { fresh: 0, bulk: 0 }
  const names = { set: 'CreateTags', remove: 'DeleteTags' } as const
  const batcher = new WriteBatcher({
    clock,
    budget,
    slowLane,
    expecting: (lane) => upstream[lane],
    port: {
      names,
      idsPerCall: 1000,
      codes: { isAboutTags: ({ code }) => code === 'BadTag', isUnexplained: () => false },
      namedIn: ({ kind, message }) => new Set(kind === 'not-found' ? message.split(' ') : []),
      send: async (operation, pairs, disks) => {
        const tags = pairs.map((pair) => pair.join('=')).join()
        const call: SentCall = { atMs: clock.monotonicMs(), operation, tags, disks: [...disks].sort() }
        sent.push(call)
        await metered.run(names[operation], 'write', async () => {
          const outcome = answer(call)
          await new Promise<void>((resolve) => {
            if (outcome !== 'silence') clock.setTimer(latencyMs, resolve)
          })
          if (outcome instanceof ProviderError) throw outcome
        })
      },
    },
  })
  const write = (disk: string, change: TagChanges, options: Partial<WriteOptions> = {}) => {
    const outcome: Outcome = { state: 'waiting', error: undefined }
    batcher.apply(disk, change, { lane: 'fresh', signal: new AbortController().signal, ...options }).then(
      () => (outcome.state = 'done'),
      (error: unknown) => Object.assign(outcome, { state: 'failed', error }),
    )
    return outcome
  }
  return { batcher, budget, clock, sent, slowLane, upstream, write }
}

interface Outcome {
  state: 'waiting' | 'done' | 'failed'
  error: unknown
}

type Tags = Readonly<Record<string, string>>

function set(tags: Tags, remove: Tags = {}): TagChanges {
  return {
    set: new Map(Object.entries(tags)),
    remove: new Map(Object.entries(remove).map(([key, value]) => [key, [value]])),
  }
}

function failure({ error, state }: Outcome): ProviderError {
  if (error instanceof ProviderError) return error
  throw new Error(`expected a ProviderError, and it is ${state}`, { cause: error })
}

const disksOf = (count: number) => Array.from({ length: count }, (_, i) => `disk-${i}`)
const refused = (kind: 'denied' | 'invalid', code: string) => new ProviderError(kind, kind, { code })

describe('WriteBatcher', () => {
  describe('when idle', () => {
    it('sends a write at once, without a timer', async () => {
      const { clock, sent, write } = startWith()

      const outcome = write('disk-1', set({ team: 'core' }))
      await settle()

      expect(sent).to.deep.equal([{ atMs: 0, operation: 'set', tags: 'team=core', disks: ['disk-1'] }])
      await clock.step(100)
      expect(outcome.state).to.equal('done')
      expect(clock.pendingTimers).to.equal(0)
    })

    it('sends what came in the same turn together', async () => {
      const { sent, upstream, write } = startWith()
      upstream.fresh = 50

      for (const disk of disksOf(30)) write(disk, set({ team: 'core' }))
      await settle()

      expect(sent.map(({ disks }) => disks.length)).to.deep.equal([30])
    })

    it('makes no call for a change that changes nothing', async () => {
      const { sent, write } = startWith()

      const outcomes = [write('disk-1', set({})), write('disk-2', { set: new Map(), remove: new Map([['old', []]]) })]
      await settle()

      expect(outcomes.map(({ state }) => state)).to.deep.equal(['done', 'done'])
      expect(sent).to.deep.equal([])
    })

    it('sends a removal with key and value, for each value that is permitted', async () => {
      const { clock, sent, write } = startWith()

      const outcome = write('disk-1', { set: new Map([['new', 'x']]), remove: new Map([['old', ['1', '', '1']]]) })
      await clock.step(100)

      expect(outcome.state).to.equal('done')
      expect(sent.map(({ operation, tags }) => `${operation} ${tags}`)).to.deep.equal([
        'set new=x',
        'remove old=,old=1',
      ])
    })
  })

  describe('under backlog', () => {
    it('keeps four fresh calls in flight and lets the rest wait for one another', async () => {
      const { clock, sent, upstream, write } = startWith()
      upstream.fresh = 1

      for (const disk of disksOf(4)) write(disk, set({ disk }))
      await settle()
      for (const disk of disksOf(20).slice(4)) write(disk, set({ team: 'core' }))
      await clock.step(999)
      expect(sent).to.have.length(4)

      await clock.step(1)
      expect(sent).to.have.length(5)
      expect(sent[4]?.disks).to.have.length(16)
    })

    it('leaves as soon as nothing else is coming', async () => {
      const { batcher, clock, sent, upstream, write } = startWith()
      upstream.fresh = 1
      for (const disk of disksOf(6)) write(disk, set({ disk }))
      await clock.step(300)
      expect(sent).to.have.length(4)

      upstream.fresh = 0
      batcher.poke()
      await settle()

      expect(sent).to.have.length(6)
    })

    it('saves calls while a crowd keeps coming and the budget runs low, and no longer than three seconds', async () => {
      const { clock, sent, write } = startWith({ burst: 8, perSecond: 1 })
      for (let i = 0; i < 250; i++) {
        write(`disk-${i}`, set({ app: `app-${i % 10}` }))
        await clock.step(20)
      }
      // Two at once from the full burst, then as much as three seconds' waiting makes of it.
      expect(sent.length).to.be.within(6, 14)
      expect(sent[0]?.atMs).to.equal(0)

      await clock.step(15_000)

      expect(sent.flatMap(({ disks }) => disks)).to.have.length(250)
      expect(sent.length).to.be.at.most(26)
    })

    it('leaves as soon as a group is full', async () => {
      const { clock, sent, upstream, write } = startWith()
      upstream.bulk = 1
      for (const disk of disksOf(3)) write(disk, set({ disk }), { lane: 'bulk' })
      await settle()

      for (const disk of disksOf(1005)) write(disk, set({ team: 'core' }), { lane: 'bulk' })
      await clock.step(100)

      expect(sent.map(({ disks }) => disks.length)).to.deep.equal([1, 1, 1, 1000])
    })

    it('lets bulk wait five seconds for company', async () => {
      const { clock, sent, upstream, write } = startWith()
      upstream.bulk = 1
      for (const disk of disksOf(5)) write(disk, set({ disk }), { lane: 'bulk' })

      await clock.step(4999)
      expect(sent).to.have.length(3)
      await clock.step(1)
      expect(sent).to.have.length(5)
    })

    it('shares tags among many writes in few calls', async () => {
      const { clock, sent, write } = startWith()

      const outcomes = disksOf(600).map((disk, i) =>
        write(disk, set({ app: `app-${i % 20}`, env: `env-${i % 3}`, tier: `tier-${i % 7}` })),
      )
      await clock.step(2000)

      expect(outcomes.every(({ state }) => state === 'done')).to.equal(true)
      expect(sent).to.have.length(30)
    })

    it('never has many calls in flight', async () => {
      const { clock, sent, write } = startWith()

      for (const disk of disksOf(40)) write(disk, set({ disk }))
      for (const disk of disksOf(300))
        write(disk, set({ a: disk.slice(-1), b: disk.slice(-2), c: 'x' }), { lane: 'bulk' })
      await clock.step(3000)

      for (const { atMs } of sent) {
        const inFlight = sent.filter((other) => other.atMs <= atMs && other.atMs > atMs - 100)
        expect(inFlight.length).to.be.at.most(7)
      }
    })
  })

  describe('and its lanes', () => {
    it('lets a fresh write overtake a bulk backlog', async () => {
      const { clock, sent, write } = startWith()
      for (const disk of disksOf(50)) write(disk, set({ disk }), { lane: 'bulk' })
      await clock.step(150)

      const fresh = write('fresh', set({ team: 'core' }))
      await clock.step(100)

      expect(fresh.state).to.equal('done')
      expect(sent.findIndex(({ disks }) => disks.includes('fresh'))).to.be.below(8)
    })

    it('keeps tokens for fresh writes while bulk waits for more', async () => {
      const { clock, sent, write } = startWith({ burst: 8, perSecond: 1 })
      for (const disk of disksOf(50)) write(disk, set({ disk }), { lane: 'bulk' })
      await clock.step(500)
      expect(sent).to.have.length(6)

      const fresh = [write('fresh-1', set({ a: '1' })), write('fresh-2', set({ b: '1' }))]
      await clock.step(100)

      expect(fresh.map(({ state }) => state)).to.deep.equal(['done', 'done'])
    })

    it('lets what needs no removal pass those that wait for the budget of removals', async () => {
      const { clock, sent, write } = startWith({ burst: 1, perSecond: 0.1 })
      write('disk-1', set({}, { a: '1' }))
      await clock.step(100)
      write('disk-2', set({}, { b: '1' }))
      await clock.step(1)

      const setting = write('disk-3', set({ c: '1' }))
      await clock.step(100)

      expect(setting.state).to.equal('done')
      expect(sent.map(({ operation }) => operation)).to.deep.equal(['remove', 'set'])
    })
  })

  describe('and its budget', () => {
    it('G4: makes large calls when tokens are few', async () => {
      const { clock, sent, write } = startWith({ burst: 1, perSecond: 0.5 })
      write('disk-0', set({ team: 'core' }))
      await clock.step(200)

      for (const disk of disksOf(300)) {
        write(disk, set({ team: 'core' }))
        await settle()
      }
      await clock.step(2000)

      expect(sent.map(({ atMs, disks }) => [atMs, disks.length])).to.deep.equal([
        [0, 1],
        [2000, 300],
      ])
    })

    it('does not run beforeSend while a write only waits for the budget', async () => {
      const { clock, write } = startWith({ burst: 1, perSecond: 1 })
      const askedAtMs: number[] = []
      const beforeSend = async () => {
        askedAtMs.push(clock.monotonicMs())
        return Infinity
      }
      write('disk-1', set({ a: '1' }))
      await settle()

      write('disk-2', set({ b: '1' }), { beforeSend })
      await clock.step(1000)

      expect(askedAtMs).to.deep.equal([1000])
    })

    it('gives back the tokens of writes that were not sent', async () => {
      const { budget, clock, write } = startWith({ burst: 10, perSecond: 0.001 })

      write('disk-1', set({ a: '1' }, { b: '1' }), { beforeSend: () => Promise.reject(new Error('no')) })
      await clock.step(10)

      expect(budget.status().map(({ tokens }) => Math.round(tokens))).to.deep.equal([10, 10])
    })

    it('tells a write that got no turn to come back', async () => {
      const { budget, clock, write } = startWith()
      budget.throttled('CreateTags', { sentAtMs: 0, retryAfterMs: 600_000 })

      const outcome = write('disk-1', set({ a: '1' }))
      await clock.step(65_000)

      expect(failure(outcome).kind).to.equal('throttled')
      expect(failure(outcome).retryAfterMs).to.be.closeTo(600_000 - 65_000, 5000)
      expect(failure(outcome).outcomeUnknown).to.equal(false)
      expect(clock.pendingTimers).to.equal(0)
    })

    it('throttles every member of a throttled batch, halves the rate and pauses for the rest', async () => {
      const throttled = new ProviderError('throttled', 'slow down', { retryAfterMs: 3000 })
      let first = true
      const { budget, clock, sent, write } = startWith({
        answer: () => {
          if (!first) return undefined
          first = false
          return throttled
        },
      })

      const outcomes = disksOf(3).map((disk) => write(disk, set({ team: 'core' })))
      await clock.step(100)
      const later = write('disk-9', set({ team: 'core' }))
      await clock.step(2999)

      expect(outcomes.map((outcome) => failure(outcome).retryAfterMs)).to.deep.equal([3000, 3000, 3000])
      expect(budget.status()[0]?.ratePerSecond).to.equal(5)
      expect(sent).to.have.length(1)
      await clock.step(101)
      expect(later.state).to.equal('done')
    })
  })

  describe('beforeSend', () => {
    it('runs for all members at once, and once for each', async () => {
      const { clock, sent, write } = startWith()
      let asked = 0
      const beforeSend = () => {
        asked += 1
        return new Promise<number>((resolve) => clock.setTimer(50, () => resolve(Infinity)))
      }

      for (const disk of disksOf(20)) write(disk, set({ team: 'core' }, { old: '1' }), { beforeSend })
      await clock.step(50)

      expect(asked).to.equal(20)
      expect(sent.map(({ disks }) => disks.length)).to.deep.equal([20, 20])
    })

    it('drops a member whose promise was refused, with its own reason', async () => {
      const { clock, sent, write } = startWith()
      const reason = new Error('somebody else writes')

      const outcomes = disksOf(3).map((disk, i) =>
        write(disk, set({ team: 'core' }), {
          beforeSend: () => (i === 1 ? Promise.reject(reason) : Promise.resolve(Infinity)),
        }),
      )
      await clock.step(100)

      expect(outcomes.map(({ state }) => state)).to.deep.equal(['done', 'failed', 'done'])
      expect(outcomes[1]?.error).to.equal(reason)
      expect(sent.map(({ disks }) => disks)).to.deep.equal([['disk-0', 'disk-2']])
    })

    it('keeps nobody waiting for long after two seconds, and sends the late with a later call', async () => {
      const { clock, sent, write } = startWith()
      let asked = 0
      const slow = () => {
        asked += 1
        return new Promise<number>((resolve) => clock.setTimer(3000, () => resolve(Infinity)))
      }

      const outcomes = disksOf(10).map((disk, i) =>
        write(disk, set({ team: 'core' }), { beforeSend: i < 4 ? slow : async () => Infinity }),
      )
      await clock.step(2050)
      expect(sent.map(({ disks }) => disks.length)).to.deep.equal([6])
      await clock.step(1050)

      expect(sent.map(({ disks }) => disks.length)).to.deep.equal([6, 4])
      expect(outcomes.every(({ state }) => state === 'done')).to.equal(true)
      expect(asked).to.equal(4)
    })

    it('lets the late wait for one another', async () => {
      const { clock, sent, write } = startWith()

      disksOf(4).map((disk, i) =>
        write(disk, set({ team: 'core' }), {
          beforeSend: () => new Promise<number>((resolve) => clock.setTimer(2100 + 100 * i, () => resolve(Infinity))),
        }),
      )
      await clock.step(2400)

      expect(sent.map(({ atMs, disks }) => [atMs, disks.length])).to.deep.equal([[2400, 4]])
    })

    it('gives up a member that never answers', async () => {
      const { clock, sent, write } = startWith()

      const outcome = write('disk-1', set({ a: '1' }), { beforeSend: () => new Promise(() => {}) })
      await clock.step(32_100)

      expect(failure(outcome).kind).to.equal('unavailable')
      expect(failure(outcome).outcomeUnknown).to.equal(false)
      expect(sent).to.deep.equal([])
      expect(clock.pendingTimers).to.equal(0)
    })

    it('sends nothing after the deadline', async () => {
      const { clock, sent, write } = startWith()
      const slow = () => new Promise<number>((resolve) => clock.setTimer(1000, () => resolve(Infinity)))

      const late = write('disk-1', set({ a: '1' }), { beforeSend: async () => 500 })
      const other = write('disk-2', set({ a: '1' }), { beforeSend: slow })
      await clock.step(1100)

      expect(failure(late).kind).to.equal('unavailable')
      expect(failure(late).outcomeUnknown).to.equal(false)
      expect(other.state).to.equal('done')
      expect(sent.map(({ disks }) => disks)).to.deep.equal([['disk-2']])
    })

    it('does not split a batch beyond its members’ deadlines', async () => {
      const { clock, sent, write } = startWith({
        burst: 2,
        perSecond: 0.1,
        answer: ({ disks }) => (disks.includes('disk-3') ? refused('denied', 'No') : undefined),
      })

      const outcomes = disksOf(8).map((disk) => write(disk, set({ a: '1' }), { beforeSend: async () => 5000 }))
      await clock.step(30_000)

      expect(sent.every(({ atMs }) => atMs <= 5000)).to.equal(true)
      expect(outcomes.map((outcome) => failure(outcome).kind)).to.deep.equal(disksOf(8).map(() => 'unavailable'))
      expect(outcomes.some((outcome) => failure(outcome).outcomeUnknown)).to.equal(false)
    })
  })

  describe('when the cloud fails', () => {
    it('writes the others where one is gone, one denied and one full', async () => {
      const { clock, sent, write } = startWith({
        answer: ({ disks }) => {
          if (disks.includes('disk-50')) return refused('denied', 'UnauthorizedOperation')
          if (disks.includes('disk-7')) return new ProviderError('not-found', 'disk-7')
          return disks.includes('disk-93') ? refused('invalid', 'TagLimitExceeded') : undefined
        },
      })

      const outcomes = disksOf(100).map((disk) => write(disk, set({ team: 'core' })))
      await clock.step(10_000)

      expect(outcomes.filter(({ state }) => state === 'done')).to.have.length(97)
      expect([50, 7, 93].map((i) => failure(outcomes[i] as Outcome).kind)).to.deep.equal([
        'denied',
        'not-found',
        'invalid',
      ])
      expect(sent.length).to.be.at.most(30)
    })

    it('lets a disk that was refused travel alone from then on', async () => {
      const { clock, sent, write } = startWith({
        answer: ({ disks }) => (disks.includes('disk-3') ? refused('denied', 'No') : undefined),
      })
      for (const disk of disksOf(8)) write(disk, set({ team: 'core' }))
      await clock.step(2000)
      sent.length = 0

      for (const disk of disksOf(8)) write(disk, set({ team: 'edge' }))
      await clock.step(2000)

      expect(sent.map(({ disks }) => disks.length)).to.have.members([1, 7])
    })

    it('leaves the others alone when a call hangs', async () => {
      const { clock, sent, write } = startWith({ answer: ({ tags }) => (tags === 'hang=1' ? 'silence' : undefined) })
      const hanging = disksOf(6).map((disk) => write(disk, set({ hang: '1' })))
      await clock.step(50)

      const others = disksOf(40).map((disk) => write(`other-${disk}`, set({ disk })))
      await clock.step(3000)

      expect(others.every(({ state }) => state === 'done')).to.equal(true)
      await clock.step(7000)
      expect(hanging.map((outcome) => failure(outcome).kind)).to.deep.equal(disksOf(6).map(() => 'unavailable'))
      expect(hanging.every((outcome) => failure(outcome).outcomeUnknown)).to.equal(true)
      expect(sent.filter(({ tags }) => tags === 'hang=1')).to.have.length(1)
    })

    it('no longer counts calls that hang', async () => {
      const { clock, write } = startWith({ answer: ({ tags }) => (tags.startsWith('hang') ? 'silence' : undefined) })
      for (const disk of disksOf(4)) write(disk, set({ hang: disk }))
      await settle()

      const other = write('other', set({ a: '1' }))
      await clock.step(1999)
      expect(other.state).to.equal('waiting')
      await clock.step(101)

      expect(other.state).to.equal('done')
    })

    it('says that the disk may have changed where one of two calls did its work', async () => {
      const { clock, write } = startWith({
        answer: ({ operation }) => (operation === 'remove' ? refused('denied', 'No') : undefined),
      })

      const outcome = write('disk-1', set({ a: '1' }, { b: '1' }))
      await clock.step(100)

      expect(failure(outcome).kind).to.equal('denied')
      expect(failure(outcome).outcomeUnknown).to.equal(true)
    })

    it('keeps an unknown outcome when the deadline ends the write', async () => {
      const lost = new ProviderError('unavailable', 'lost', { code: 'ECONNRESET', outcomeUnknown: true })
      const { clock, write } = startWith({ answer: ({ operation }) => (operation === 'set' ? lost : undefined) })

      const outcome = write('disk-1', set({ a: '1' }, { b: '1' }))
      await clock.step(100)

      expect(failure(outcome).kind).to.equal('unavailable')
      expect(failure(outcome).outcomeUnknown).to.equal(true)
    })

    it('sets again on a full disk once its own removal has made room', async () => {
      let removed = false
      const { clock, sent, write } = startWith({
        answer: ({ operation }) => {
          const full = operation === 'set' && !removed
          removed ||= operation === 'remove'
          return full ? refused('invalid', 'TagLimitExceeded') : undefined
        },
      })

      const outcome = write('disk-1', set({ a: '1' }, { b: '1' }))
      await clock.step(300)

      expect(outcome.state).to.equal('done')
      expect(sent.map(({ operation }) => operation)).to.deep.equal(['set', 'remove', 'set'])
    })

    it('tries that only once', async () => {
      const { clock, sent, write } = startWith({
        answer: ({ operation }) => (operation === 'set' ? refused('invalid', 'TagLimitExceeded') : undefined),
      })

      const outcome = write('disk-1', set({ a: '1' }, { b: '1' }))
      await clock.step(1000)

      expect(failure(outcome).kind).to.equal('invalid')
      expect(sent).to.have.length(3)
    })

    it('refuses the tags for all when three disks refuse them singly', async () => {
      const { clock, sent, write } = startWith({ answer: () => refused('invalid', 'BadTag') })

      const outcomes = disksOf(500).map((disk) => write(disk, set({ 'bad key': '1' })))
      await clock.step(10_000)

      expect(outcomes.every((outcome) => failure(outcome).kind === 'invalid')).to.equal(true)
      expect(sent.length).to.be.at.most(14)
    })
  })

  describe('when the account is denied', () => {
    const denied = (call: SentCall) =>
      call.operation === 'set' ? refused('denied', 'UnauthorizedOperation') : undefined

    it('needs a few calls to know it for a thousand disks', async () => {
      const { clock, sent, slowLane, write } = startWith({ answer: denied })

      const outcomes = disksOf(1000).map((disk) => write(disk, set({ team: 'core' })))
      await clock.step(5000)

      expect(outcomes.every((outcome) => failure(outcome).kind === 'denied')).to.equal(true)
      expect(sent.length).to.equal(12)
      expect(slowLane.isSlow('CreateTags')).to.equal(true)
    })

    it('neither calls nor promises anything while slow, but for one probe', async () => {
      const { clock, sent, write } = startWith({ answer: denied })
      for (const disk of disksOf(2)) write(disk, set({ team: 'core' }))
      await clock.step(1000)
      sent.length = 0
      let asked = 0
      const beforeSend = async () => {
        asked += 1
        return Infinity
      }

      const outcomes = disksOf(5).map((disk) => write(disk, set({ team: 'core' }), { beforeSend }))
      await clock.step(1000)
      expect(outcomes.every((outcome) => (failure(outcome).retryAfterMs ?? 0) > 290_000)).to.equal(true)
      expect([asked, sent.length]).to.deep.equal([0, 0])

      await clock.step(300_000)
      for (const disk of disksOf(5)) write(disk, set({ team: 'core' }), { beforeSend })
      await clock.step(1000)
      expect([asked, sent.length]).to.deep.equal([1, 1])
    })

    it('goes on as before once a probe succeeds', async () => {
      let allowed = false
      const { clock, sent, write } = startWith({ answer: (call) => (allowed ? undefined : denied(call)) })
      for (const disk of disksOf(2)) write(disk, set({ team: 'core' }))
      await clock.step(301_000)
      allowed = true

      const probe = write('disk-1', set({ team: 'core' }))
      await clock.step(100)
      sent.length = 0
      const others = disksOf(5).map((disk) => write(`other-${disk}`, set({ team: 'core' })))
      await clock.step(100)

      expect([probe, ...others].map(({ state }) => state)).to.deep.equal(Array.from({ length: 6 }, () => 'done'))
      expect(sent.map(({ disks }) => disks.length)).to.deep.equal([5])
    })

    it('still removes what it may remove', async () => {
      const { clock, sent, write } = startWith({ answer: denied })
      for (const disk of disksOf(2)) write(disk, set({ team: 'core' }))
      await clock.step(1000)
      sent.length = 0

      const outcome = write('disk-9', set({ team: 'core' }, { old: '1' }))
      await clock.step(100)

      expect(failure(outcome).kind).to.equal('denied')
      expect(failure(outcome).outcomeUnknown).to.equal(true)
      expect(sent.map(({ operation }) => operation)).to.deep.equal(['remove'])
    })

    it('does not send what was waiting when it went slow', async () => {
      const { clock, sent, upstream, write } = startWith({ answer: denied })
      upstream.fresh = 1
      for (const disk of disksOf(4)) write(disk, set({ disk }))
      await settle()

      const waiting = disksOf(3).map((disk) => write(`late-${disk}`, set({ team: 'core' })))
      await clock.step(2000)

      expect(waiting.map((outcome) => failure(outcome).kind)).to.deep.equal(['denied', 'denied', 'denied'])
      expect(sent).to.have.length(4)
    })
  })

  describe('when it ends', () => {
    it('gives up what an abort reached before it was sent', async () => {
      const { budget, clock, sent, write } = startWith()
      budget.throttled('CreateTags', { sentAtMs: 0, retryAfterMs: 5000 })
      const aborting = new AbortController()

      const outcomes = disksOf(3).map((disk) => write(disk, set({ a: '1' }), { signal: aborting.signal }))
      const other = write('disk-9', set({ a: '1' }))
      await settle()
      aborting.abort()
      await clock.step(5300)

      expect(outcomes.map((outcome) => failure(outcome).kind)).to.deep.equal(
        Array.from({ length: 3 }, () => 'unavailable'),
      )
      expect(other.state).to.equal('done')
      expect(sent.map(({ disks }) => disks)).to.deep.equal([['disk-9']])
    })

    it('gives up what was not sent, lets what was sent end, and leaves nothing running', async () => {
      const { batcher, clock, sent, upstream, write } = startWith()
      upstream.fresh = 1
      const gone = write('disk-0', set({ a: '1' }))
      await settle()
      const late = write('disk-1', set({ b: '1' }), { beforeSend: () => new Promise(() => {}) })
      await clock.step(50)
      for (const disk of disksOf(3)) write(`x-${disk}`, set({ disk }))
      await settle()
      const waiting = write('disk-2', set({ c: '1' }))
      await settle()

      let stopped = false
      const stopping = batcher.stop().then(() => (stopped = true))
      await settle()

      expect(failure(waiting).outcomeUnknown).to.equal(false)
      expect(failure(late).outcomeUnknown).to.equal(false)
      expect([gone.state, stopped]).to.deep.equal(['waiting', false])
      await clock.step(150)
      await stopping
      expect(gone.state).to.equal('done')
      const after = write('disk-3', set({ d: '1' }))
      await settle()
      expect(failure(after).kind).to.equal('unavailable')
      expect(clock.pendingTimers).to.equal(0)
      expect(sent).to.have.length(3)
    })
  })
})
