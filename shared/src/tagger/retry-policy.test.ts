import { expect } from 'chai'
import { claim as aClaim } from '../../testing/builders.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import type { Hints } from '../queue/hints.ts'
import { noChanges } from '../plan/tag-changes.ts'
import { outcomeKinds } from './outcome.ts'
import type { CloudFailure, ClusterFailure, Outcome } from './outcome.ts'
import { RetryPolicy } from './retry-policy.ts'
import type { NextStep } from './retry-policy.ts'

const { key } = aClaim()
const hints: Hints = { lane: 'fresh', uid: 'claim-uid-1', newerThan: '11', expectWebhook: true }
const observing: Hints = { ...hints, observe: true }
const minuteMs = 60_000

function start(options: { notReadyMs?: number; errorMs?: number; chance?: number } = {}) {
  const clock = new FakeClock()
  const random = { next: () => options.chance ?? 0 }
  const policy = new RetryPolicy({ clock, random, notReadyMs: 30_000, errorMs: minuteMs, ...options })
  const next = (outcome: Outcome): NextStep => policy.next(key, outcome, hints)
  const delays = (outcome: Outcome, times: number) =>
    Array.from({ length: times }, () => {
      const step = next(outcome)
      return step.kind === 'again' ? step.afterMs : step.kind
    })
  return { clock, policy, next, delays }
}

function cloud(reason: CloudFailure['reason'], more: Partial<CloudFailure> = {}): CloudFailure {
  return {
    kind: 'cloud-failure',
    reason,
    code: undefined,
    message: 'no',
    retryAfterMs: undefined,
    outcomeUnknown: false,
    observed: true,
    ...more,
  }
}

function cluster(reason: ClusterFailure['reason'], retryAfterMs?: number): ClusterFailure {
  return { kind: 'cluster-failure', reason, message: 'no', retryAfterMs }
}

/** What happens next, and with which hints. Every kind of outcome has a row. */
const table: readonly { readonly when: string; readonly outcome: Outcome; readonly next: NextStep }[] = [
  { when: 'tags were written', outcome: { kind: 'tagged', changes: noChanges }, next: { kind: 'rest' } },
  {
    when: 'tags were written and an earlier call may still land',
    outcome: { kind: 'tagged', changes: noChanges, recheckAfterMs: 7000 },
    next: { kind: 'again', afterMs: 7000, hints: { lane: 'bulk', observe: true } },
  },
  { when: 'nothing was to do', outcome: { kind: 'in-sync' }, next: { kind: 'rest' } },
  {
    when: 'tags would have been written',
    outcome: { kind: 'reported', changes: noChanges },
    next: { kind: 'rest' },
  },
  {
    when: 'nothing was to do and an earlier call may still land',
    outcome: { kind: 'in-sync', recheckAfterMs: 7000 },
    next: { kind: 'again', afterMs: 7000, hints: { lane: 'bulk', observe: true } },
  },
  {
    when: 'the claim is not bound: its bind is seen',
    outcome: { kind: 'pending', reason: 'claim-unbound' },
    next: { kind: 'rest' },
  },
  { when: 'it is not for us', outcome: { kind: 'skipped', reason: 'unsupported-volume' }, next: { kind: 'rest' } },
  {
    when: 'the store has not reached what was reviewed',
    outcome: { kind: 'stale', found: true },
    next: { kind: 'again', afterMs: 4, hints },
  },
  {
    when: 'another process has announced a change: nobody missed it',
    outcome: { kind: 'busy', by: 'pod-b', retryAfterMs: 12_000 },
    next: { kind: 'again', afterMs: 12_000, hints: { ...hints, expectWebhook: false } },
  },
  { when: 'the process is stopping', outcome: { kind: 'stopped' }, next: { kind: 'give-up' } },

  {
    when: 'the cloud throttles and did nothing',
    outcome: cloud('throttled'),
    next: { kind: 'again', afterMs: 1000, hints },
  },
  {
    when: 'the cloud throttles and says for how long',
    outcome: cloud('throttled', { retryAfterMs: 9000 }),
    next: { kind: 'again', afterMs: 9000, hints },
  },
  {
    when: 'the cloud could not be reached',
    outcome: cloud('unavailable'),
    next: { kind: 'again', afterMs: 1000, hints },
  },
  {
    when: 'the answer to a write was lost: the next pass looks',
    outcome: cloud('unavailable', { outcomeUnknown: true }),
    next: { kind: 'again', afterMs: 1000, hints: observing },
  },
  {
    when: 'the tags changed between read and write: the next pass reads afresh',
    outcome: cloud('conflict'),
    next: { kind: 'again', afterMs: 500, hints: observing },
  },
  {
    when: 'the cloud does not know the disk yet',
    outcome: cloud('not-found'),
    next: { kind: 'again', afterMs: 30_000, hints: observing },
  },
  {
    when: 'the cloud denies it',
    outcome: cloud('denied'),
    next: { kind: 'again', afterMs: 5 * minuteMs, hints: observing },
  },
  {
    when: 'the whole account scope is denied and has its own probe',
    outcome: cloud('denied', { retryAfterMs: 15_000 }),
    next: { kind: 'again', afterMs: 15_000, hints: observing },
  },
  {
    when: 'the cloud refuses tags that were written without a look: the next pass looks',
    outcome: cloud('invalid', { observed: false }),
    next: { kind: 'again', afterMs: 500, hints: observing },
  },
  {
    when: 'the cloud refuses the tags, with open eyes',
    outcome: cloud('invalid', { observed: true }),
    next: { kind: 'give-up' },
  },

  {
    when: 'somebody else wrote the record',
    outcome: cluster('conflict'),
    next: { kind: 'again', afterMs: 50, hints },
  },
  { when: 'the volume is gone', outcome: cluster('not-found'), next: { kind: 'again', afterMs: 50, hints } },
  { when: 'a version is gone', outcome: cluster('gone'), next: { kind: 'again', afterMs: 50, hints } },
  {
    when: 'the API server throttles and says for how long',
    outcome: cluster('throttled', 4000),
    next: { kind: 'again', afterMs: 4000, hints },
  },
  {
    when: 'the API server is not there',
    outcome: cluster('unavailable'),
    next: { kind: 'again', afterMs: 1000, hints },
  },
  {
    when: 'the API server denies it',
    outcome: cluster('denied'),
    next: { kind: 'again', afterMs: 1000, hints },
  },
  {
    when: 'an object cannot be read',
    outcome: cluster('invalid'),
    next: { kind: 'again', afterMs: 1000, hints },
  },
]

describe('RetryPolicy', () => {
  for (const { when, outcome, next } of table) {
    const what = { rest: 'rests', again: 'comes again', 'give-up': 'gives up' }[next.kind]
    it(`${what} when ${when}`, () => {
      expect(start().next(outcome)).to.deep.equal(next)
    })
  }

  it('G5: has a row for every outcome', () => {
    expect(new Set(table.map(({ outcome }) => outcome.kind))).to.deep.equal(new Set(outcomeKinds))
  })

  it('G2: doubles its delays up to requeue.error', () => {
    expect(start().delays(cloud('unavailable'), 8)).to.deep.equal([
      1000,
      2000,
      4000,
      8000,
      16_000,
      32_000,
      minuteMs,
      minuteMs,
    ])
    expect(start({ errorMs: 3000 }).delays(cluster('unavailable'), 4)).to.deep.equal([1000, 2000, 3000, 3000])
  })

  it('spreads them downwards, so that what failed together does not come back together', () => {
    expect(start({ chance: 0.8 }).delays(cloud('unavailable'), 2)).to.deep.equal([800, 1600])
  })

  it('F1, F3: waits longer for whoever has to do something about a denial', () => {
    const delays = start().delays(cloud('denied'), 6)

    expect(delays).to.deep.equal([5, 10, 20, 40, 60, 60].map((minutes) => minutes * minuteMs))
  })

  it('never waits less than half a second, whatever the settings and the cloud say', () => {
    const impatient = { errorMs: 1, notReadyMs: 1, chance: 0.999 }
    for (const outcome of [
      cloud('unavailable'),
      cloud('throttled', { retryAfterMs: 0 }),
      cloud('denied', { retryAfterMs: 0 }),
      cloud('not-found'),
      cloud('conflict'),
      cluster('unavailable'),
      cluster('throttled', 0),
    ]) {
      expect(Math.min(...start(impatient).delays(outcome, 4).map(Number)), outcome.reason).to.equal(500)
    }
  })

  it('looks again soon after the first conflict of a record, and only after the first', () => {
    expect(start().delays(cluster('conflict'), 6)).to.deep.equal([50, 500, 500, 500, 800, 1600])
  })

  it('takes a disk that the cloud does not know after five looks for gone', () => {
    const { delays } = start({ errorMs: minuteMs, notReadyMs: 30_000 })

    expect(delays(cloud('not-found'), 6)).to.deep.equal([30_000, minuteMs, minuteMs, minuteMs, minuteMs, 'give-up'])
    expect(delays(cloud('not-found'), 1)).to.deep.equal([30_000])
  })

  it('leaves what the store never shows to others after nine short waits', () => {
    const delays = start().delays({ kind: 'stale', found: true }, 10)

    expect(delays).to.deep.equal([4, 8, 16, 32, 64, 128, 256, 512, 1000, 'give-up'])
  })

  it('gives all claims that are not there together a limited number of looks', async () => {
    const { clock, policy } = start()
    const looks = (count: number) => {
      let granted = 0
      for (let i = 0; i < count; i++) {
        const ghost = aClaim({ name: `ghost-${i}` }).key
        if (policy.next(ghost, { kind: 'stale', found: false }, hints).kind === 'again') granted++
        policy.forget(ghost)
      }
      return granted
    }

    expect(looks(10_000)).to.equal(2000)
    await clock.step(1000)
    expect(looks(10_000)).to.equal(50)
    expect(policy.next(key, { kind: 'stale', found: true }, hints).kind).to.equal('again')
  })

  it('counts failures in a row, and forgets them when a pass does well', () => {
    const { policy, next } = start()
    next(cloud('unavailable'))
    next(cloud('conflict'))
    next(cluster('conflict'))
    next({ kind: 'stale', found: true })
    expect(policy.failures(key)).to.equal(3)

    next({ kind: 'in-sync' })

    expect(policy.failures(key)).to.equal(0)
    expect(next(cloud('unavailable'))).to.deep.include({ afterMs: 1000 })
  })
})
