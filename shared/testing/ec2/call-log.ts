export interface RecordedCall {
  /** Wall time at which the whole request had arrived. */
  readonly atMs: number
  readonly action: string
  /** The volumes that the call names, by id or by a volume-id filter. */
  readonly ids: readonly string[]
  /** The form without its list of ids. */
  readonly parameters: Readonly<Record<string, string>>
  /** `ok`, the error code, or `lost` where the client got no proper answer; undefined while the call is open. */
  outcome: string | undefined
  /** Wall time of the outcome. */
  endedAtMs: number | undefined
}

export interface CallCount {
  calls: number
  /** Volumes named, summed over the calls. */
  disks: number
  throttled: number
  /** Every other outcome that is not `ok`. */
  failed: number
}

/** Counts everything, remembers the last calls. */
export class CallLog {
  readonly #limit: number
  #recent: RecordedCall[] = []
  #counts = new Map<string, CallCount>()
  #waiting: { readonly action: string | undefined; readonly resolve: (call: RecordedCall) => void }[] = []
  inFlight = 0
  inFlightMax = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  open(call: RecordedCall): void {
    this.#recent.push(call)
    // Trimmed in one go, so that a full log does not shift its array at every call.
    if (this.#recent.length >= this.#limit * 2) this.#recent = this.#recent.slice(-this.#limit)
    const count = this.count(call.action)
    count.calls++
    count.disks += call.ids.length
    this.#counts.set(call.action, count)
    this.inFlight++
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight)
    const heard = this.#waiting.filter(({ action }) => action === undefined || action === call.action)
    this.#waiting = this.#waiting.filter((waiter) => !heard.includes(waiter))
    for (const { resolve } of heard) resolve(call)
  }

  close(call: RecordedCall, outcome: string, atMs: number): void {
    if (call.outcome !== undefined) return
    call.outcome = outcome
    call.endedAtMs = atMs
    this.inFlight--
    const count = this.count(call.action)
    if (outcome === 'RequestLimitExceeded') count.throttled++
    else if (outcome !== 'ok') count.failed++
  }

  count(action: string): CallCount {
    return this.#counts.get(action) ?? { calls: 0, disks: 0, throttled: 0, failed: 0 }
  }

  counts(): Record<string, CallCount> {
    return Object.fromEntries([...this.#counts].map(([action, count]) => [action, { ...count }]))
  }

  /** Oldest first. */
  recent(): readonly RecordedCall[] {
    return this.#recent.slice(-this.#limit)
  }

  /** Resolves when the next such call arrives. */
  next(action?: string): Promise<RecordedCall> {
    return new Promise((resolve) => this.#waiting.push({ action, resolve }))
  }

  reset(): void {
    this.#recent = []
    this.#counts = new Map()
    this.inFlightMax = this.inFlight
  }
}
