import type { ClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { Hints } from '@k8s-cloud-tagger/shared/queue/hints.ts'
import type { WorkQueue } from '@k8s-cloud-tagger/shared/queue/work-queue.ts'
import type { Job } from './admission/decide.ts'

/**
 * Admission runs before storage, so a look at once would find the old object. The API server stores within a few
 * milliseconds of our answer; what is not there by then is looked for again, at growing distances.
 */
const firstLookMs = 4

export interface JobIntakeDeps {
  readonly queue: WorkQueue<ClaimKey, Hints>
  /** The full queue did not take a key; the reconciler sees the change itself. */
  readonly onOverflow: () => void
}

export function jobIntake({ queue, onOverflow }: JobIntakeDeps): (job: Job) => void {
  return ({ key, hints }) => {
    if (!queue.addAfter(key, hints, firstLookMs)) onOverflow()
  }
}
