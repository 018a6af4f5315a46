import { pause } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Logger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import { withJitter } from '@k8s-cloud-tagger/shared/runtime/random.ts'
import type { Random } from '@k8s-cloud-tagger/shared/runtime/random.ts'
import type { SweepResult } from './drift-sweep.ts'

export interface SweepScheduleDeps {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** `requeue.success`, in milliseconds. */
  readonly intervalMs: number
  /** Wall time of the last complete sweep in milliseconds, kept where a restart finds it; undefined before the first. */
  readonly lastMs: () => number | undefined
  readonly remember: (wallMs: number) => Promise<void>
  readonly sweep: (signal: AbortSignal) => Promise<SweepResult>
  readonly observe: (ended: SweepEnd) => void
}

export type SweepEnd =
  | ({ readonly outcome: 'complete'; readonly seconds: number; readonly endedMs: number } & SweepResult)
  | { readonly outcome: 'failed' }

/** An overdue sweep waits up to this long, so that a thousand clusters that restart together do not sweep together. */
const startSpreadMs = 60_000
const retryMinMs = 60_000

/** Sweeps at every interval, for as long as this process leads. A restart neither skips a sweep nor repeats one. */
export class SweepSchedule {
  readonly #deps: SweepScheduleDeps
  /** What was to be noted last, whether it could be or not. */
  #notedMs: number | undefined

  constructor(deps: SweepScheduleDeps) {
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, random } = this.#deps
    const lastMs = this.#deps.lastMs()
    if (lastMs === undefined) {
      // A fleet that is installed together spreads its first sweeps over a whole interval. The first look at every claim
      // has compared the disks already.
      await this.#remember(clock.wallMs() - random.next() * intervalMs, signal)
    } else if (lastMs > clock.wallMs()) {
      // A clock was set back, or another node's was ahead: it counts from now, and every restart must count from there.
      await this.#remember(clock.wallMs(), signal)
    }
    while (!signal.aborted) {
      await pause(clock, this.#untilDueMs(), signal)
      if (!signal.aborted && !(await this.#sweep(signal))) {
        await pause(clock, withJitter(Math.min(retryMinMs, intervalMs), random), signal)
      }
    }
  }

  #untilDueMs(): number {
    const { clock, random, intervalMs, lastMs } = this.#deps
    const sinceMs = Math.max(0, clock.wallMs() - (this.#notedMs ?? lastMs() ?? clock.wallMs()))
    const leftMs = withJitter(intervalMs, random) - sinceMs
    return leftMs > 0 ? leftMs : random.next() * Math.min(startSpreadMs, intervalMs / 10)
  }

  async #sweep(signal: AbortSignal): Promise<boolean> {
    const { clock, logger, sweep, observe } = this.#deps
    const startedMs = clock.monotonicMs()
    try {
      const result = await sweep(signal)
      const seconds = (clock.monotonicMs() - startedMs) / 1000
      const endedMs = clock.wallMs()
      await this.#remember(endedMs, signal)
      observe({ outcome: 'complete', seconds, endedMs, ...result })
      logger.info({ ...result, seconds }, 'disks compared with the cloud')
      return true
    } catch (error) {
      if (signal.aborted) return false
      observe({ outcome: 'failed' })
      logger.warn({ err: error }, 'disks could not be compared with the cloud')
      return false
    }
  }

  /** Not being able to note it costs one repeated sweep after a restart, and no more. */
  async #remember(wallMs: number, signal: AbortSignal): Promise<void> {
    this.#notedMs = wallMs
    try {
      await this.#deps.remember(wallMs)
    } catch (error) {
      if (!signal.aborted) this.#deps.logger.warn({ err: error }, 'the time of the sweep could not be noted')
    }
  }
}
