import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { AccountBudget } from './account-budget.ts'
import type { CloudMetrics } from './cloud-metrics.ts'
import type { ProviderName } from './provider.ts'
import { ProviderError, asProviderError } from './provider-error.ts'
import type { SlowLane } from './slow-lane.ts'

export interface MeteredCallsDeps {
  readonly provider: ProviderName
  readonly scope: string
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: CloudMetrics
  readonly budget: AccountBudget
  readonly slowLane: SlowLane
  readonly timeoutMs: number
  readonly isKnownCode: (code: string) => boolean
}

/**
 * Every single call to one account scope passes here: it is bounded in time, counted, and what it taught about the
 * budget and the permissions is noted.
 */
export class MeteredCalls {
  readonly #deps: MeteredCallsDeps

  constructor(deps: MeteredCallsDeps) {
    this.#deps = deps
  }

  /** Throws ProviderError. The signal that `call` gets aborts at the time-out; a call that ignores it is abandoned. */
  async run<Answer>(
    operation: string,
    kind: 'read' | 'write',
    call: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const { budget, clock, metrics, provider, scope, slowLane } = this.#deps
    const sentAtMs = clock.monotonicMs()
    const secondsSoFar = () => (clock.monotonicMs() - sentAtMs) / 1000
    try {
      const answer = await this.#inTime(kind, call)
      metrics.called({ provider, operation, outcome: 'ok', seconds: secondsSoFar() })
      slowLane.succeeded(operation)
      return answer
    } catch (thrown) {
      const error = asProviderError(thrown)
      metrics.called({ provider, operation, outcome: error.kind, seconds: secondsSoFar() })
      if (error.kind === 'throttled') {
        budget.throttled(operation, { sentAtMs, retryAfterMs: error.retryAfterMs })
        metrics.throttled({ provider, scope, operation })
      }
      this.#reportUnknown(operation, error)
      throw error
    }
  }

  async #inTime<Answer>(kind: 'read' | 'write', call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const { clock, timeoutMs } = this.#deps
    const abort = new AbortController()
    const late = Promise.withResolvers<never>()
    const timer = clock.setTimer(timeoutMs, () => {
      late.reject(
        new ProviderError('unavailable', `no answer within ${timeoutMs} ms`, {
          code: 'CallTimeout',
          outcomeUnknown: kind === 'write',
        }),
      )
      abort.abort()
    })
    try {
      return await Promise.race([call(abort.signal), late.promise])
    } finally {
      timer.cancel()
    }
  }

  #reportUnknown(operation: string, error: ProviderError): void {
    const { isKnownCode, logger, metrics, provider, scope } = this.#deps
    const { code } = error
    if (error.kind !== 'unavailable' || code === undefined || code === 'CallTimeout' || isKnownCode(code)) return
    metrics.unknownCode({ provider, operation, code })
    logger.warn({ provider, scope, operation, code, err: error.message }, 'the cloud answered with an unknown code')
  }
}
