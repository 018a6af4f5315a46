import type { Random } from '../runtime/random.ts'

/** When a key may be tried again. client-go's three methods. */
export interface RateLimiter<K> {
  /** Milliseconds to wait before the next try; counts as one more failure. */
  when(key: K): number
  /** The key did well, or is given up: its failures are forgotten. */
  forget(key: K): void
  numRequeues(key: K): number
}

/**
 * `baseMs`, doubled at each failure up to `capMs`. Jitter takes up to a quarter away, so that keys that failed together
 * do not come back together (client-go's limiter has none).
 */
export class ExponentialRateLimiter<K> implements RateLimiter<K> {
  readonly #baseMs: number
  readonly #capMs: number
  readonly #random: Random
  readonly #failures = new Map<K, number>()

  constructor(options: { readonly baseMs: number; readonly capMs: number; readonly random: Random }) {
    this.#baseMs = options.baseMs
    this.#capMs = options.capMs
    this.#random = options.random
  }

  when(key: K): number {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    // 2 ** 1024 is Infinity, and Math.min still answers the cap.
    const delayMs = Math.min(this.#baseMs * 2 ** failures, this.#capMs)
    return delayMs * (1 - this.#random.next() / 4)
  }

  forget(key: K): void {
    this.#failures.delete(key)
  }

  numRequeues(key: K): number {
    return this.#failures.get(key) ?? 0
  }
}
