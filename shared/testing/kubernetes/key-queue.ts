import type { Clock, Timer } from '../../src/runtime/clock.ts'

/** A controller's queue: a key is handled by one call at a time, and once more if it was added meanwhile. */
export class KeyQueue {
  readonly #handle: (key: string) => Promise<void>
  readonly #clock: Clock
  readonly #retryDelayMs: number
  /** Waiting to be handled, in order. */
  readonly #dirty = new Set<string>()
  readonly #busy = new Set<string>()
  readonly #timers = new Set<Timer>()
  #stopped = false

  constructor(options: {
    readonly clock: Clock
    readonly retryDelayMs: number
    readonly handle: (key: string) => Promise<void>
  }) {
    this.#handle = options.handle
    this.#clock = options.clock
    this.#retryDelayMs = options.retryDelayMs
  }

  add(key: string, delayMs = 0): void {
    if (this.#stopped) return
    if (delayMs > 0) return this.#addLater(key, delayMs)
    this.#dirty.add(key)
    // Not within the caller's write: it must be over before anybody reacts to it.
    queueMicrotask(() => this.#pump())
  }

  stop(): void {
    this.#stopped = true
    this.#dirty.clear()
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
  }

  #addLater(key: string, delayMs: number): void {
    const timer = this.#clock.setTimer(delayMs, () => {
      this.#timers.delete(timer)
      this.add(key)
    })
    this.#timers.add(timer)
  }

  #pump(): void {
    for (const key of this.#dirty) {
      if (this.#busy.size >= parallelMax) return
      if (this.#busy.has(key)) continue
      this.#dirty.delete(key)
      this.#busy.add(key)
      void this.#run(key)
    }
  }

  async #run(key: string): Promise<void> {
    try {
      await this.#handle(key)
    } catch {
      // A refused or conflicting write: the controllers try again for ever.
      this.add(key, this.#retryDelayMs)
    }
    this.#busy.delete(key)
    this.#pump()
  }
}

const parallelMax = 8
