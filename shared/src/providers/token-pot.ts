import type { CallRate } from './account-budget.ts'
import type { Lane } from './provider.ts'

/**
 * The part of an installation's budget that no process has for itself: whoever is busy draws from it, so that one busy
 * process is not held to its share while the others rest.
 */
export interface TokenPot {
  /**
   * Resolves to the calls of this operation that the caller may make now on top of its own, at most `want`, 0 where the
   * pot has none to spare. Undefined where there is no pot to draw from, now and later. Never rejects.
   */
  draw(operation: string, want: number, lane: Lane): Promise<number | undefined>
}

/** What the pot holds at most and gains, by operation. */
export type OpenPot = (rates: Readonly<Record<string, CallRate>>) => TokenPot

/** The rest is divided by stated shares, and is there at once: an idle product's first changes need no drawing. */
export const potPart = 0.75
