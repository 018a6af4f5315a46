import type { Clock } from '../runtime/clock.ts'

export interface AllowanceOptions {
  readonly clock: Clock
  /** What each key may take at once. */
  readonly burst: number
  readonly perSecond: number
}

/** Beyond this many keys the ones that have not taken anything for longest are forgotten, which gives them a full burst. */
const keysMax = 10_000

/** How much of something shared each key may take. Computed from the clock on demand: it owns no timer. */
export class Allowance<K> {
  readonly #options: AllowanceOptions
  readonly #left = new Map<K, { tokens: number; atMs: number }>()

  constructor(options: AllowanceOptions) {
    this.#options = options
  }

  /** Answers false where the key has had its share for now. */
  take(key: K): boolean {
    const { clock, burst, perSecond } = this.#options
    const nowMs = clock.monotonicMs()
    const known = this.#left.get(key) ?? { tokens: burst, atMs: nowMs }
    const tokens = Math.min(burst, known.tokens + ((nowMs - known.atMs) / 1000) * perSecond)
    const granted = tokens >= 1
    // Set anew, so that the order of the map is that of the last use.
    this.#left.delete(key)
    this.#left.set(key, { tokens: granted ? tokens - 1 : tokens, atMs: nowMs })
    if (this.#left.size > keysMax) this.#forgetOldest()
    return granted
  }

  #forgetOldest(): void {
    for (const key of this.#left.keys()) {
      this.#left.delete(key)
      return
    }
  }
}
