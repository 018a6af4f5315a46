/**
 * How long a change may take to reach the disk, in milliseconds. An intent lives for the sum: only then no call of it can
 * land any more, however slow its process was.
 */
export interface IntentTiming {
  /** From opening the intent to sending the last call for it. */
  readonly sendWindowMs: number
  /** After this, the client gives a call up. */
  readonly callTimeoutMs: number
  /** How long after that the cloud may still carry it out. */
  readonly lateWindowMs: number
}

/**
 * Clouds answer within seconds or not at all: three time-outs more is what an abandoned call gets to land in. As many pass
 * at most between an intent and the last call for it, which is what a thousand intents of one batch and its splitting take.
 */
export function intentTiming(callTimeoutMs: number): IntentTiming {
  return { sendWindowMs: 3 * callTimeoutMs, callTimeoutMs, lateWindowMs: 3 * callTimeoutMs }
}

export function intentLifetimeMs(timing: IntentTiming): number {
  return timing.sendWindowMs + timing.callTimeoutMs + timing.lateWindowMs
}
