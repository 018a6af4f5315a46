import { expect } from 'chai'
import { FakeClock, settle } from '../../testing/fake-clock.ts'
import { atMost, pause, systemClock } from './clock.ts'
import { durationMs } from './duration.ts'
import { withJitter } from './random.ts'
import { isoTimestamp, timestampMs } from './timestamps.ts'

async function ended(promise: Promise<void>): Promise<boolean> {
  let ended = false
  void promise.then(() => (ended = true))
  await settle()
  return ended
}

describe('pause', () => {
  it('lasts as long as it was told', async () => {
    const clock = new FakeClock()
    const paused = pause(clock, 100)

    await clock.step(99)
    expect(await ended(paused)).to.equal(false)
    await clock.step(1)
    expect(await ended(paused)).to.equal(true)
  })

  it('ends at once, and leaves no timer, when it is aborted', async () => {
    const clock = new FakeClock()
    const abort = new AbortController()
    const paused = pause(clock, 100, abort.signal)

    abort.abort()

    expect(await ended(paused)).to.equal(true)
    expect(await ended(pause(clock, 100, abort.signal))).to.equal(true)
    expect(clock.pendingTimers).to.equal(0)
  })
})

describe('atMost', () => {
  for (const [how, work] of [
    ['well', () => Promise.resolve()],
    ['badly', () => Promise.reject(new Error('it failed'))],
  ] as const) {
    it(`waits no longer than until the work has ended ${how}`, async () => {
      const clock = new FakeClock()

      expect(await ended(atMost(clock, 1000, work()))).to.equal(true)
      expect(clock.pendingTimers).to.equal(0)
    })
  }

  it('waits no longer than its limit', async () => {
    const clock = new FakeClock()
    const waiting = atMost(clock, 1000, new Promise(() => {}))

    await clock.step(999)
    expect(await ended(waiting)).to.equal(false)
    await clock.step(1)
    expect(await ended(waiting)).to.equal(true)
  })
})

describe('systemClock', () => {
  it('does not fire at once because a delay is longer than a timer can be', async () => {
    let fired = false
    const timer = systemClock.setTimer(2 ** 40, () => (fired = true))

    await settle()

    expect(fired).to.equal(false)
    timer.cancel()
  })

  it('never goes back, and knows the year', () => {
    const before = systemClock.monotonicMs()

    expect(systemClock.monotonicMs()).to.be.at.least(before)
    expect(systemClock.wallMs()).to.be.above(Date.UTC(2025, 0, 1))
  })
})

describe('durationMs', () => {
  for (const [text, ms] of [
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
  ] as const) {
    it(`reads ${text}`, () => {
      expect(durationMs(text)).to.equal(ms)
    })
  }

  it('refuses what the schema would have', () => {
    expect(() => durationMs('1m30s')).to.throw('not a duration: 1m30s')
  })
})

describe('withJitter', () => {
  it('spreads evenly around its base', () => {
    expect([0, 0.5, 1].map((chance) => withJitter(1000, { next: () => chance }))).to.deep.equal([900, 1000, 1100])
  })
})

describe('timestamps', () => {
  it('are read as Kubernetes writes them, and written as it reads them', () => {
    expect(timestampMs('2026-01-01T00:00:00Z')).to.equal(Date.UTC(2026, 0, 1))
    expect(timestampMs('2026-01-01T00:00:00.123456Z')).to.equal(Date.UTC(2026, 0, 1) + 123)
    expect(isoTimestamp(Date.UTC(2026, 0, 1))).to.equal('2026-01-01T00:00:00.000Z')
  })

  it('are absent where they cannot be read', () => {
    expect(timestampMs('yesterday')).to.equal(undefined)
    expect(timestampMs(undefined)).to.equal(undefined)
  })
})
