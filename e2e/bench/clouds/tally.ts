import type { CallTally } from './bench-cloud.ts'

type Counts = Readonly<Record<string, { readonly calls: number; readonly throttled: number; readonly failed: number }>>

export interface Counted {
  /** Operations that are not the cloud's API, such as handing out tokens. */
  readonly leftOut?: ReadonlySet<string>
  readonly isWrite: (operation: string) => boolean
}

export function tallyOf(counts: Counts, { leftOut, isWrite }: Counted): CallTally {
  const tally = { calls: 0, writes: 0, throttled: 0, failed: 0 }
  for (const [operation, { calls, throttled, failed }] of Object.entries(counts)) {
    if (leftOut?.has(operation) === true) continue
    tally.calls += calls
    tally.throttled += throttled
    tally.failed += failed
    if (isWrite(operation)) tally.writes += calls
  }
  return tally
}

export function describeCounts(counts: Counts): string {
  const parts = Object.entries(counts).map(([operation, { calls, throttled }]) => {
    return throttled === 0 ? `${operation} ${calls}` : `${operation} ${calls} (${throttled} throttled)`
  })
  return parts.length === 0 ? 'no call' : parts.join(', ')
}

interface Throttling<Call> {
  onCall: ((call: Call) => void) | undefined
  inject(fault: { readonly kind: 'throttle'; readonly retryAfterSeconds?: number }, scope: { times: number }): unknown
}

/** Refuses every n-th of these calls. The fault is there when the call that it is for asks for it, and only then. */
export function throttleEvery<Call>(
  fake: Throttling<Call>,
  n: number | undefined,
  { isHit, retryAfterSeconds }: { readonly isHit: (call: Call) => boolean; readonly retryAfterSeconds?: number },
): void {
  let seen = 0
  const fault = { kind: 'throttle' as const, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  fake.onCall =
    n === undefined
      ? undefined
      : (call) => {
          if (isHit(call) && ++seen % n === 0) fake.inject(fault, { times: 1 })
        }
}
