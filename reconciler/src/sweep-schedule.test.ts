import { expect } from 'chai'
import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { CapturedLog } from '@k8s-cloud-tagger/shared/testing/programs/captured-log.ts'
import type { SweepResult } from './drift-sweep.ts'
import { SweepSchedule } from './sweep-schedule.ts'
import type { SweepEnd } from './sweep-schedule.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

interface Options {
  readonly intervalMs?: number
  /** Values of chance, in turn; the last one stays. */
  readonly chance?: readonly number[]
  readonly noted?: number | undefined
  readonly clock?: FakeClock
}

/** What outlives a restart is the clock and the note; a schedule is made anew for each term. */
function start(options: Options = {}) {
  const clock = options.clock ?? new FakeClock()
  const log = new CapturedLog()
  const chance = [...(options.chance ?? [0.5])]
  const state = { notedMs: options.noted, noting: () => Promise.resolve() }
  const sweeps: number[] = []
  const ends: SweepEnd[] = []
  const outcomes: (() => Promise<SweepResult>)[] = []
  let stop = () => Promise.resolve()
  const restart = async () => {
    await stop()
    const controller = new AbortController()
    const running = new SweepSchedule({
      clock,
      random: { next: () => (chance.length > 1 ? chance.shift()! : chance[0]!) },
      logger: log,
      intervalMs: options.intervalMs ?? hourMs,
      lastMs: () => state.notedMs,
      remember: async (wallMs) => {
        await state.noting()
        state.notedMs = wallMs
      },
      sweep: () => {
        sweeps.push(clock.wallMs())
        return outcomes.shift()?.() ?? Promise.resolve({ compared: 10, drifted: 1 })
      },
      observe: (ended) => void ends.push(ended),
    }).run(controller.signal)
    stop = async () => {
      controller.abort()
      await running
      expect(clock.pendingTimers).to.equal(0)
    }
  }
  return { clock, log, state, sweeps, ends, outcomes, restart, stop: () => stop() }
}

/** Minutes since `fromMs`. */
function minutes(times: readonly number[], fromMs: number): number[] {
  return times.map((atMs) => Math.round((atMs - fromMs) / minuteMs))
}

describe('SweepSchedule', () => {
  it('sweeps once an interval', async () => {
    const { clock, sweeps, ends, state, restart, stop } = start({ noted: new FakeClock().wallMs() })
    const startMs = clock.wallMs()
    await restart()

    await clock.step(5 * hourMs + minuteMs)

    expect(minutes(sweeps, startMs)).to.deep.equal([60, 120, 180, 240, 300])
    expect(state.notedMs).to.equal(sweeps.at(-1))
    expect(ends.at(-1)).to.deep.equal({
      outcome: 'complete',
      compared: 10,
      drifted: 1,
      seconds: 0,
      endedMs: sweeps.at(-1),
    })
    await stop()
  })

  it('counts the interval from the end of a sweep that takes long', async () => {
    const { clock, sweeps, ends, outcomes, restart, stop } = start({ noted: new FakeClock().wallMs() })
    const startMs = clock.wallMs()
    outcomes.push(
      () => new Promise((resolve) => clock.setTimer(30 * minuteMs, () => resolve({ compared: 1, drifted: 0 }))),
    )
    await restart()

    await clock.step(3 * hourMs)

    expect(minutes(sweeps, startMs)).to.deep.equal([60, 150])
    expect(ends[0]).to.include({ seconds: 1800 })
    await stop()
  })

  it('neither skips nor repeats one over 20 restarts', async () => {
    const { clock, sweeps, state, restart, stop } = start({ noted: new FakeClock().wallMs() })
    const startMs = clock.wallMs()

    for (let i = 0; i < 20; i++) {
      await restart()
      await clock.step(17 * minuteMs)
    }

    expect(sweeps.length).to.be.within(4, 6)
    for (const [i, atMs] of sweeps.entries()) {
      const sinceMs = atMs - (sweeps[i - 1] ?? startMs)
      expect(sinceMs / minuteMs).to.be.within(54, 67)
    }
    expect(state.notedMs).to.equal(sweeps.at(-1))
    await stop()
  })

  it('spreads the first sweeps of a fleet over a whole interval, and remembers its share over restarts', async () => {
    const firsts: number[] = []
    for (const chance of [0.1, 0.5, 0.99]) {
      const { clock, sweeps, restart, stop } = start({ chance: [chance, 0.5] })
      const startMs = clock.wallMs()
      for (let i = 0; i < 8; i++) {
        await restart()
        await clock.step(10 * minuteMs)
      }
      firsts.push(...minutes(sweeps.slice(0, 1), startMs))
      await stop()
    }

    expect(firsts).to.deep.equal([54, 30, 1])
  })

  it('makes up for an overdue one within a minute, spread so that a fleet does not sweep together', async () => {
    const firsts: number[] = []
    for (const chance of [0, 0.5, 0.99]) {
      const { clock, sweeps, restart, stop } = start({
        chance: [0.5, chance, 0.5],
        noted: new FakeClock().wallMs() - 10 * hourMs,
      })
      const startMs = clock.wallMs()
      await restart()
      await clock.step(30 * minuteMs)
      expect(sweeps).to.have.length(1)
      firsts.push((sweeps[0]! - startMs) / 1000)
      await stop()
    }

    expect(firsts).to.deep.equal([0, 30, 59.4])
  })

  it('differs a little each time, so that clusters do not stay together', async () => {
    const { clock, sweeps, restart, stop } = start({ chance: [0, 0.999, 0.5], noted: new FakeClock().wallMs() })
    const startMs = clock.wallMs()
    await restart()

    await clock.step(4 * hourMs)

    expect(minutes(sweeps, startMs)).to.deep.equal([54, 120, 180, 240])
    await stop()
  })

  it('tries again a minute or two after one that failed, and says so', async () => {
    const { clock, log, sweeps, ends, state, outcomes, restart, stop } = start({ noted: new FakeClock().wallMs() })
    const startMs = clock.wallMs()
    for (let i = 0; i < 2; i++) outcomes.push(() => Promise.reject(new Error('the cloud is away')))
    await restart()

    await clock.step(hourMs + 10 * minuteMs)

    expect(ends.map(({ outcome }) => outcome)).to.deep.equal(['failed', 'failed', 'complete'])
    expect(minutes(sweeps, startMs)).to.deep.equal([60, 62, 63])
    expect(log.at('warn')).to.deep.equal(Array(2).fill('disks could not be compared with the cloud'))
    expect(state.notedMs).to.equal(sweeps[2])
    await stop()
  })

  it('sweeps an hour after a clock was set back, restarts or not', async () => {
    for (const restarts of [1, 12]) {
      const { clock, sweeps, restart, stop } = start({ noted: new FakeClock().wallMs() + 30 * 24 * hourMs })
      const startMs = clock.wallMs()

      for (let i = 0; i < restarts; i++) {
        await restart()
        await clock.step((65 * minuteMs) / restarts)
      }

      expect(minutes(sweeps, startMs), `${restarts} starts`).to.deep.equal([60])
      await stop()
    }
  })

  it('goes on in its rhythm where the time cannot be noted', async () => {
    const { clock, log, sweeps, state, restart, stop } = start({ noted: new FakeClock().wallMs() })
    const startMs = clock.wallMs()
    state.noting = () => Promise.reject(new Error('the Lease cannot be written'))
    await restart()

    await clock.step(3 * hourMs + minuteMs)

    expect(minutes(sweeps, startMs)).to.deep.equal([60, 120, 180])
    expect(log.at('warn')).to.deep.equal(Array(3).fill('the time of the sweep could not be noted'))
    await stop()
  })

  it('keeps a short interval', async () => {
    const { clock, sweeps, restart, stop } = start({ intervalMs: 10_000, noted: new FakeClock().wallMs() })
    await restart()

    await clock.step(minuteMs + 1000)

    expect(sweeps).to.have.length(6)
    await stop()
  })

  it('ends with its term, in the middle of a sweep too, and counts that one neither as done nor as failed', async () => {
    const { clock, ends, outcomes, state, restart, stop } = start({ noted: new FakeClock().wallMs() })
    const notedMs = state.notedMs
    let reject: (error: Error) => void = () => {}
    outcomes.push(() => new Promise((_, fail) => (reject = fail)))
    await restart()
    await clock.step(hourMs)

    const stopping = stop()
    reject(new Error('aborted'))
    await stopping

    expect(ends).to.deep.equal([])
    expect(state.notedMs).to.equal(notedMs)
  })
})
