import type { AccountBudget } from '../account-budget.ts'
import type { MeteredCalls } from '../metered.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Answered } from './arm-api.ts'

/** A halved rate shows in the quota only after a while; halving at every answer until then would stop us. */
const slowAgainAfterMs = 10_000

/** Metered calls whose answers may ask us to slow down before we are throttled. */
export class QuotaWatch {
  readonly #calls: MeteredCalls
  readonly #budget: AccountBudget
  readonly #clock: Clock
  readonly #slowedAtMs = new Map<string, number>()

  constructor(deps: { readonly calls: MeteredCalls; readonly budget: AccountBudget; readonly clock: Clock }) {
    this.#calls = deps.calls
    this.#budget = deps.budget
    this.#clock = deps.clock
  }

  /** See `MeteredCalls.run`. */
  async run<Value>(
    operation: string,
    kind: 'read' | 'write',
    call: (signal: AbortSignal) => Promise<Answered<Value>>,
  ): Promise<Value> {
    const sentAtMs = this.#clock.monotonicMs()
    const { quotaIsLow, value } = await this.#calls.run(operation, kind, call)
    if (quotaIsLow) this.#slowDown(operation, sentAtMs)
    return value
  }

  #slowDown(operation: string, sentAtMs: number): void {
    const slowedAtMs = this.#slowedAtMs.get(operation) ?? Number.NEGATIVE_INFINITY
    if (sentAtMs < slowedAtMs + slowAgainAfterMs) return
    this.#slowedAtMs.set(operation, this.#clock.monotonicMs())
    this.#budget.throttled(operation, { sentAtMs, retryAfterMs: undefined })
  }
}
