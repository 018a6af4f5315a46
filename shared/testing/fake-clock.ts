import type { Clock, Timer } from '../src/runtime/clock.ts'

/** Time that only a test moves. `step` runs due timers in order and lets promises settle after each. */
export class FakeClock implements Clock {
  #nowMs = 0
  #sequence = 0
  readonly #startWallMs: number
  readonly #timers = new Map<number, { atMs: number; callback: () => void }>()

  constructor(startWallMs = Date.UTC(2026, 0, 1)) {
    this.#startWallMs = startWallMs
  }

  wallMs(): number {
    return this.#startWallMs + this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const id = ++this.#sequence
    this.#timers.set(id, { atMs: this.#nowMs + Math.max(0, delayMs), callback })
    return { cancel: () => void this.#timers.delete(id) }
  }

  /** Timers that would still fire: a component that was stopped must have left none. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  async step(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs
    await settle()
    for (;;) {
      const due = this.#earliest()
      if (due === undefined || due.atMs > untilMs) break
      this.#nowMs = due.atMs
      this.#timers.delete(due.id)
      due.callback()
      await settle()
    }
    this.#nowMs = untilMs
    await settle()
  }

  #earliest(): { id: number; atMs: number; callback: () => void } | undefined {
    let best: { id: number; atMs: number; callback: () => void } | undefined
    for (const [id, timer] of this.#timers) {
      if (best === undefined || timer.atMs < best.atMs) best = { id, ...timer }
    }
    return best
  }
}

/** Lets every promise chain that needs no I/O run to its end. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}
