import type { ClaimKey } from '../claims/claim-key.ts'
import { Allowance } from '../queue/allowance.ts'
import type { Hints } from '../queue/hints.ts'
import { ExponentialRateLimiter } from '../queue/rate-limiters.ts'
import type { RateLimiter } from '../queue/rate-limiters.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import type { CloudFailure, ClusterFailure, Outcome } from './outcome.ts'

/** What happens next to a key. */
export type NextStep =
  /** Nothing until it changes. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'again'; readonly afterMs: number; readonly hints: Hints }
  /** This process is through with it; the reconciler, or the next sweep, goes on. */
  | { readonly kind: 'give-up' }

export interface RetryPolicyOptions {
  readonly clock: Clock
  readonly random: Random
  /** `requeue.notReady`: the first delay, in milliseconds, before a disk unknown to the cloud is looked at again. */
  readonly notReadyMs: number
  /** `requeue.error`: the ceiling of the backoff, in milliseconds. */
  readonly errorMs: number
}

/** However short the configured ceiling or the wait that a cloud asks for: no failure makes more than three passes a second. */
const retryLeastMs = 500
/** A denied call needs a person; asking more often only fills their audit log. */
const deniedMs = { first: 5 * 60_000, most: 60 * 60_000 }
/** Admission answers before storage; a write that passed is stored within milliseconds, or after other webhooks. */
const staleTries = 9
/**
 * Whoever reaches the webhook can name claims that do not exist. All of them together get this many further looks; a
 * thousand claims created at once stay within it.
 */
const unknownClaimLooks = { burst: 2000, perSecond: 50 }
/** A disk that the cloud does not know after this many looks is gone; the sweep does not ask for it either. */
const notFoundTries = 5

/** The table from how a pass ended to what happens next. The only place that knows delays. */
export class RetryPolicy {
  readonly #errors: RateLimiter<ClaimKey>
  readonly #conflicts: RateLimiter<ClaimKey>
  readonly #recordConflicts: RateLimiter<ClaimKey>
  readonly #stale: RateLimiter<ClaimKey>
  readonly #denied: RateLimiter<ClaimKey>
  readonly #notFound: RateLimiter<ClaimKey>
  readonly #unknownClaims: Allowance<'all'>

  constructor({ clock, random, notReadyMs, errorMs }: RetryPolicyOptions) {
    this.#unknownClaims = new Allowance({ clock, ...unknownClaimLooks })
    this.#errors = new ExponentialRateLimiter({ baseMs: Math.min(1000, errorMs), capMs: errorMs, random })
    this.#conflicts = new ExponentialRateLimiter({ baseMs: 500, capMs: errorMs, random })
    // Another process's intent, or a claimRef that is just being filled in: the first look again may come soon.
    this.#recordConflicts = new ExponentialRateLimiter({ baseMs: 50, capMs: errorMs, random })
    this.#stale = new ExponentialRateLimiter({ baseMs: 4, capMs: 1000, random })
    this.#denied = new ExponentialRateLimiter({ baseMs: deniedMs.first, capMs: deniedMs.most, random })
    this.#notFound = new ExponentialRateLimiter({ baseMs: notReadyMs, capMs: Math.max(errorMs, notReadyMs), random })
  }

  next(key: ClaimKey, outcome: Outcome, hints: Hints): NextStep {
    switch (outcome.kind) {
      case 'tagged':
      case 'in-sync':
        this.forget(key)
        return outcome.recheckAfterMs === undefined
          ? { kind: 'rest' }
          : { kind: 'again', afterMs: outcome.recheckAfterMs, hints: { lane: 'bulk', observe: true } }
      case 'reported':
      case 'pending':
      case 'skipped':
        this.forget(key)
        return { kind: 'rest' }
      case 'stopped':
        return { kind: 'give-up' }
      case 'stale':
        return this.#afterStaleRead(key, outcome.found, hints)
      case 'busy':
        return { kind: 'again', afterMs: outcome.retryAfterMs, hints: afterBusy(hints) }
      case 'cloud-failure':
        return this.#afterCloudFailure(key, outcome, hints)
      case 'cluster-failure':
        return this.#afterClusterFailure(key, outcome, hints)
      default:
        return outcome satisfies never
    }
  }

  /** Failures of this key in a row, stale reads not counted. */
  failures(key: ClaimKey): number {
    let failures = 0
    for (const limiter of this.#all) if (limiter !== this.#stale) failures += limiter.numRequeues(key)
    return failures
  }

  forget(key: ClaimKey): void {
    for (const limiter of this.#all) limiter.forget(key)
  }

  get #all(): readonly RateLimiter<ClaimKey>[] {
    return [this.#errors, this.#conflicts, this.#recordConflicts, this.#stale, this.#notFound, this.#denied]
  }

  #afterStaleRead(key: ClaimKey, found: boolean, hints: Hints): NextStep {
    if (this.#stale.numRequeues(key) >= staleTries) return this.#giveUp(key)
    if (!found && !this.#unknownClaims.take('all')) return this.#giveUp(key)
    return { kind: 'again', afterMs: this.#stale.when(key), hints }
  }

  #afterCloudFailure(key: ClaimKey, failure: CloudFailure, hints: Hints): NextStep {
    const observing = { ...hints, observe: true }
    switch (failure.reason) {
      case 'throttled':
      case 'unavailable': {
        const afterMs = Math.max(failure.retryAfterMs ?? 0, this.#errors.when(key))
        return again(afterMs, failure.outcomeUnknown ? observing : hints)
      }
      case 'conflict':
        return again(this.#conflicts.when(key), observing)
      case 'not-found':
        return this.#notFound.numRequeues(key) < notFoundTries
          ? again(this.#notFound.when(key), observing)
          : this.#giveUp(key)
      case 'denied':
        return this.#afterDenial(key, failure.retryAfterMs, observing)
      case 'invalid':
        // Written without a look: the disk may be full of somebody else's tags, which the next plan makes room for.
        if (!failure.observed) return again(this.#conflicts.when(key), observing)
        return this.#giveUp(key)
      default:
        return failure.reason satisfies never
    }
  }

  #afterClusterFailure(key: ClaimKey, failure: ClusterFailure, hints: Hints): NextStep {
    switch (failure.reason) {
      case 'conflict':
      case 'not-found':
      case 'gone': {
        const isFirst = this.#recordConflicts.numRequeues(key) === 0
        const afterMs = this.#recordConflicts.when(key)
        return isFirst ? { kind: 'again', afterMs, hints } : again(afterMs, hints)
      }
      case 'throttled':
      case 'unavailable':
      case 'denied':
      case 'invalid':
        return again(Math.max(failure.retryAfterMs ?? 0, this.#errors.when(key)), hints)
      default:
        return failure.reason satisfies never
    }
  }

  /** While a scope is slow, the provider knows better when its next probe may be asked about. */
  #afterDenial(key: ClaimKey, retryAfterMs: number | undefined, hints: Hints): NextStep {
    const ownMs = this.#denied.when(key)
    return again(retryAfterMs ?? ownMs, hints)
  }

  #giveUp(key: ClaimKey): NextStep {
    this.forget(key)
    return { kind: 'give-up' }
  }
}

function again(afterMs: number, hints: Hints): NextStep {
  return { kind: 'again', afterMs: Math.max(afterMs, retryLeastMs), hints }
}

/**
 * The other process's intent shows that it knows of the change: nobody missed it. If it has settled by then, its record
 * answers without a read; if not, the open intent asks for one by itself.
 */
function afterBusy(hints: Hints): Hints {
  return { ...hints, expectWebhook: false }
}
