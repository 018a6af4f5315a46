import { splitClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { ClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import { Allowance } from '@k8s-cloud-tagger/shared/queue/allowance.ts'
import type { Hints } from '@k8s-cloud-tagger/shared/queue/hints.ts'
import type { WorkQueue } from '@k8s-cloud-tagger/shared/queue/work-queue.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Job } from './admission/decide.ts'

/**
 * Admission runs before storage, so a look at once would find the old object. The API server stores within a few
 * milliseconds of our answer; what is not there by then is looked for again, at growing distances.
 */
const firstLookMs = 4

/** More live changes than these from one namespace are bulk work: nobody else's wait behind them. */
const namespaceFresh = { burst: 2000, perSecond: 20 }

export interface JobIntakeDeps {
  readonly clock: Clock
  readonly queue: WorkQueue<ClaimKey, Hints>
  /** The full queue did not take a key; the reconciler sees the change itself. */
  readonly onOverflow: () => void
}

export function jobIntake({ clock, queue, onOverflow }: JobIntakeDeps): (job: Job) => void {
  const fresh = new Allowance<string>({ clock, ...namespaceFresh })
  return ({ key, hints }) => {
    const lane = fresh.take(splitClaimKey(key).namespace) ? 'fresh' : 'bulk'
    if (!queue.addAfter(key, { ...hints, lane }, firstLookMs)) onOverflow()
  }
}
