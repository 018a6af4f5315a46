import type { Clock } from '../runtime/clock.ts'
import type { Lane } from './provider.ts'

/** A place among the few calls in flight; give it back when they have ended. */
export interface SlotHold {
  release(): void
}

/**
 * Few calls in flight, so that what comes meanwhile can share the next one. A call that takes longer than
 * `forgetAfterMs` no longer counts: one that hangs must not hold up the others. Bulk never takes the last slot.
 */
export class CallSlots {
  readonly #clock: Clock
  readonly #limit: number
  readonly #forgetAfterMs: number
  readonly #holds = new Set<{ readonly takenAtMs: number; readonly weight: number }>()

  constructor(options: { readonly clock: Clock; readonly limit?: number; readonly forgetAfterMs?: number }) {
    this.#clock = options.clock
    this.#limit = options.limit ?? 4
    this.#forgetAfterMs = options.forgetAfterMs ?? 2000
  }

  /** The most calls of a lane that may be in flight. */
  limitOf(lane: Lane): number {
    return lane === 'fresh' ? this.#limit : Math.max(1, this.#limit - 1)
  }

  isFree(lane: Lane): boolean {
    return this.#counted() < this.limitOf(lane)
  }

  /** Takes places for up to `calls` calls, even where fewer are left: ask `isFree` first. */
  take(lane: Lane, calls: number): SlotHold {
    const hold = { takenAtMs: this.#clock.monotonicMs(), weight: Math.min(calls, this.limitOf(lane)) }
    this.#holds.add(hold)
    return { release: () => void this.#holds.delete(hold) }
  }

  /** Milliseconds until the next hold no longer counts; undefined where none does now. */
  msUntilNextForgotten(): number | undefined {
    const nowMs = this.#clock.monotonicMs()
    let nextMs: number | undefined
    for (const { takenAtMs } of this.#holds) {
      const leftMs = takenAtMs + this.#forgetAfterMs - nowMs
      if (leftMs > 0) nextMs = Math.min(nextMs ?? leftMs, leftMs)
    }
    return nextMs
  }

  #counted(): number {
    const forgottenBeforeMs = this.#clock.monotonicMs() - this.#forgetAfterMs
    let sum = 0
    for (const { takenAtMs, weight } of this.#holds) if (takenAtMs > forgottenBeforeMs) sum += weight
    return sum
  }
}
