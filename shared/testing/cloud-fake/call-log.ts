/** What every cloud's record of a call has; each adds what its calls are known by. */
export interface LoggedCall {
  /** Wall time at which the whole request had arrived. */
  readonly atMs: number
  /** `ok`, the error code, or `lost` where the client got no proper answer; undefined while the call is open. */
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

export interface CallLogOptions<Call extends LoggedCall, Count extends CallCount> {
  /** How many calls it remembers. */
  readonly limit: number
  /** The name that a call is counted by. */
  readonly nameOf: (call: Call) => string
  readonly throttleOutcomes: ReadonlySet<string>
  readonly zero: Count
  /** Counts what this cloud counts beside the call itself. */
  readonly alsoCount?: (count: Count, call: Call) => void
}

/** Counts everything, remembers the last calls. */
export class CallLog<Call extends LoggedCall, Count extends CallCount = CallCount> {
  readonly #options: CallLogOptions<Call, Count>
  #recent: Call[] = []
  #counts = new Map<string, Count>()
  #waiting: { readonly name: string | undefined; readonly resolve: (call: Call) => void }[] = []
  inFlight = 0
  inFlightMax = 0

  constructor(options: CallLogOptions<Call, Count>) {
    this.#options = options
  }

  open(call: Call): void {
    const { alsoCount, limit, nameOf } = this.#options
    const name = nameOf(call)
    this.#recent.push(call)
    // Trimmed in one go, so that a full log does not shift its array at every call.
    if (this.#recent.length >= limit * 2) this.#recent = this.#recent.slice(-limit)
    const count = this.count(name)
    count.calls++
    alsoCount?.(count, call)
    this.#counts.set(name, count)
    this.inFlight++
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight)
    const heard = this.#waiting.filter((waiter) => waiter.name === undefined || waiter.name === name)
    this.#waiting = this.#waiting.filter((waiter) => !heard.includes(waiter))
    for (const { resolve } of heard) resolve(call)
  }

  /** Only the first outcome of a call counts. */
  close(call: Call, outcome: string, atMs: number): void {
    if (call.outcome !== undefined) return
    call.outcome = outcome
    call.endedAtMs = atMs
    this.inFlight--
    const count = this.count(this.#options.nameOf(call))
    if (this.#options.throttleOutcomes.has(outcome)) count.throttled++
    else if (outcome !== 'ok') count.failed++
  }

  count(name: string): Count {
    return this.#counts.get(name) ?? { ...this.#options.zero }
  }

  counts(): Record<string, Count> {
    return Object.fromEntries([...this.#counts].map(([name, count]) => [name, { ...count }]))
  }

  /** Oldest first. */
  recent(name?: string): readonly Call[] {
    const { limit, nameOf } = this.#options
    return this.#recent.slice(-limit).filter((call) => name === undefined || nameOf(call) === name)
  }

  /** Resolves when the next such call arrives. */
  next(name?: string): Promise<Call> {
    return new Promise((resolve) => this.#waiting.push({ name, resolve }))
  }

  reset(): void {
    this.#recent = []
    this.#counts = new Map()
    this.inFlightMax = this.inFlight
  }
}
