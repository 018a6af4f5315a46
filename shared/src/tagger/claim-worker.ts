import type { ClaimKey } from '../claims/claim-key.ts'
import type { Hints } from '../queue/hints.ts'
import type { QueueItem, WorkQueue } from '../queue/work-queue.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { failureEvent } from './claim-events.ts'
import type { CloudFailure, ClusterFailure, Outcome } from './outcome.ts'
import type { EventSink } from './ports.ts'
import type { RetryPolicy } from './retry-policy.ts'
import type { Tagger } from './tagger.ts'

/** What is told about each pass; counted by the metrics, and kept by whoever shows claims by state. */
export interface PassObserver {
  passed(key: ClaimKey, outcome: Outcome, pass: { readonly hints: Hints; readonly seconds: number }): void
  /** A key was left to the reconciler: it could not be started in time, or the store never showed what was reviewed. */
  handedOver(key: ClaimKey): void
}

export interface ClaimWorkerDeps {
  readonly queue: WorkQueue<ClaimKey, Hints>
  readonly tagger: Tagger
  readonly retries: RetryPolicy
  readonly events: EventSink
  readonly observer: PassObserver
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
  /**
   * In milliseconds: a key that waited longer than this is dropped, since from then on the reconciler has it. Undefined
   * where nobody else would do it.
   */
  readonly handOverAfterMs: number | undefined
}

/** Failures in a row before one that mends itself is worth its owner's attention. */
const lastingFailures = 5

/** One key's turn: run the path, then do what the retry policy says. */
export class ClaimWorker {
  readonly #deps: ClaimWorkerDeps

  constructor(deps: ClaimWorkerDeps) {
    this.#deps = deps
  }

  async work({ key, hints, waitedMs }: QueueItem<ClaimKey, Hints>): Promise<void> {
    const { tagger, retries, observer, clock, signal, handOverAfterMs } = this.#deps
    if (handOverAfterMs !== undefined && waitedMs > handOverAfterMs) {
      retries.forget(key)
      observer.handedOver(key)
      return
    }
    const startedMs = clock.monotonicMs()
    const outcome = await tagger.tag(key, hints, signal)
    observer.passed(key, outcome, { hints, seconds: (clock.monotonicMs() - startedMs) / 1000 })
    if (outcome.kind === 'cloud-failure' || outcome.kind === 'cluster-failure') this.#report(key, outcome)
    this.#goOn(key, outcome, hints)
  }

  #goOn(key: ClaimKey, outcome: Outcome, hints: Hints): void {
    const { retries, queue, observer } = this.#deps
    const next = retries.next(key, outcome, hints)
    switch (next.kind) {
      case 'again':
        if (!queue.addAfter(key, next.hints, next.afterMs)) observer.handedOver(key)
        break
      case 'give-up':
        if (outcome.kind === 'stale') observer.handedOver(key)
        break
      case 'rest':
        break
      default:
        next satisfies never
    }
  }

  /** Loud once, then quiet: a failure that lasts is a metric, not a line each minute. */
  #report(key: ClaimKey, failure: CloudFailure | ClusterFailure): void {
    const { retries, logger, events } = this.#deps
    const failures = retries.failures(key)
    const fields = { claim: key, reason: failure.reason, failures, message: failure.message }
    // A conflict is the ordinary answer to two writers, and ends by itself.
    if (failures === 0 && failure.reason !== 'conflict')
      logger.warn({ ...fields, ...codeOf(failure) }, 'claim not tagged')
    else logger.debug(fields, 'claim still not tagged')
    if (failure.kind !== 'cloud-failure' || failure.claim === undefined) return
    // A denial that lasts says nothing new.
    if (failure.reason === 'denied' && failures > 0) return
    const event = failureEvent(failure, failures === lastingFailures)
    if (event !== undefined) events.record(failure.claim, event)
  }
}

function codeOf(failure: CloudFailure | ClusterFailure): { readonly code?: string } {
  return failure.kind === 'cloud-failure' && failure.code !== undefined ? { code: failure.code } : {}
}
