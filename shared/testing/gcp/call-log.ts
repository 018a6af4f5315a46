export interface RecordedCall {
  /** Wall time at which the whole request had arrived. */
  readonly atMs: number
  /** Google's name, such as `disks.setLabels`. */
  readonly operation: string
  readonly method: string
  /** With its query. */
  readonly path: string
  /** The disk's id, for a call that names one. */
  readonly disk: string | undefined
  readonly body: string
  /** Of the headers only these. */
  readonly fieldMask: string | undefined
  readonly authorization: string | undefined
  /** `ok`, the error's reason, or `lost` where the client got no proper answer; undefined while the call is open. */
  outcome: string | undefined
  /** Wall time of the outcome. */
  endedAtMs: number | undefined
}

export interface CallCount {
  calls: number
  throttled: number
  /** Every other outcome that is not `ok`. */
  failed: number
}

/** Counts everything, remembers the last calls. */
export class CallLog {
  readonly #limit: number
  #recent: RecordedCall[] = []
  #counts = new Map<string, CallCount>()
  #waiting: { readonly operation: string | undefined; readonly resolve: (call: RecordedCall) => void }[] = []
  inFlight = 0
  inFlightMax = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  open(call: RecordedCall): void {
    this.#recent.push(call)
    // Trimmed in one go, so that a full log does not shift its array at every call.
    if (this.#recent.length >= this.#limit * 2) this.#recent = this.#recent.slice(-this.#limit)
    const count = this.count(call.operation)
    count.calls++
    this.#counts.set(call.operation, count)
    this.inFlight++
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight)
    const heard = this.#waiting.filter(({ operation }) => operation === undefined || operation === call.operation)
    this.#waiting = this.#waiting.filter((waiter) => !heard.includes(waiter))
    for (const { resolve } of heard) resolve(call)
  }

  close(call: RecordedCall, outcome: string, atMs: number): void {
    if (call.outcome !== undefined) return
    call.outcome = outcome
    call.endedAtMs = atMs
    this.inFlight--
    const count = this.count(call.operation)
    if (outcome === 'rateLimitExceeded') count.throttled++
    else if (outcome !== 'ok') count.failed++
  }

  count(operation: string): CallCount {
    return this.#counts.get(operation) ?? { calls: 0, throttled: 0, failed: 0 }
  }

  counts(): Record<string, CallCount> {
    return Object.fromEntries([...this.#counts].map(([operation, count]) => [operation, { ...count }]))
  }

  /** Oldest first. */
  recent(): readonly RecordedCall[] {
    return this.#recent.slice(-this.#limit)
  }

  /** Resolves when the next such call arrives. */
  next(operation?: string): Promise<RecordedCall> {
    return new Promise((resolve) => this.#waiting.push({ operation, resolve }))
  }

  reset(): void {
    this.#recent = []
    this.#counts = new Map()
    this.inFlightMax = this.inFlight
  }
}
