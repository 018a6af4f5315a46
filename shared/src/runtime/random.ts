/** Chance, injected so that a test can take it away. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number
}

export const systemRandom: Random = { next: () => Math.random() }

/** Spreads `baseMs` evenly over ±`fraction`, so that a fleet that starts together does not stay together. */
export function withJitter(baseMs: number, random: Random, fraction = 0.1): number {
  return baseMs * (1 + fraction * (2 * random.next() - 1))
}
