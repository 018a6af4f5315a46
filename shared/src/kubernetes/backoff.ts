import type { Random } from '../runtime/random.ts'

// Up to half of a delay is added by chance, so the doubling ends at two thirds of the longest.
const spread = 0.5

/** Delays that double from `firstMs` on and never exceed `maxMs`; `reset` starts over. */
export class Backoff {
  readonly #firstMs: number
  readonly #baseMaxMs: number
  readonly #random: Random
  #baseMs: number

  constructor(options: { readonly firstMs: number; readonly maxMs: number; readonly random: Random }) {
    this.#firstMs = options.firstMs
    this.#baseMaxMs = options.maxMs / (1 + spread)
    this.#random = options.random
    this.#baseMs = options.firstMs
  }

  nextMs(): number {
    const delayMs = this.#baseMs * (1 + spread * this.#random.next())
    this.#baseMs = Math.min(this.#baseMs * 2, this.#baseMaxMs)
    return delayMs
  }

  reset(): void {
    this.#baseMs = this.#firstMs
  }
}
