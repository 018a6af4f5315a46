import type { Clock, Timer } from '../runtime/clock.ts'
import { KubernetesError } from './kubernetes-error.ts'

/**
 * The time in which one process may act as the leader. Ends by itself when nothing was renewed for the deadline, even
 * while a call hangs.
 */
export class LeaderTerm {
  readonly #clock: Clock
  readonly #deadlineMs: number
  readonly #controller = new AbortController()
  #renewedAtMs: number
  #timer: Timer

  /** `renewedAtMs`: when the write that made us the leader was sent, on the monotonic clock. */
  constructor(clock: Clock, deadlineMs: number, renewedAtMs: number) {
    this.#clock = clock
    this.#deadlineMs = deadlineMs
    this.#renewedAtMs = renewedAtMs
    this.#timer = this.#arm()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get isOver(): boolean {
    return this.signal.aborted
  }

  /** Until when nobody else may take the Lease, with the margin taken off. Negative when that has passed. */
  get leftMs(): number {
    return this.#renewedAtMs + this.#deadlineMs - this.#clock.monotonicMs()
  }

  renewed(sentAtMs: number): void {
    this.#renewedAtMs = sentAtMs
    this.#timer.cancel()
    if (!this.isOver) this.#timer = this.#arm()
  }

  end(reason: string): void {
    this.#timer.cancel()
    this.#controller.abort(new KubernetesError('unavailable', reason))
  }

  #arm(): Timer {
    return this.#clock.setTimer(this.leftMs, () => this.end('the lease was not renewed in time'))
  }
}
