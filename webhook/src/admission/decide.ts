import { claimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { ClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { Hints } from '@k8s-cloud-tagger/shared/queue/hints.ts'
import { allowed } from './review.ts'
import type { Answer, ReviewRequest } from './review.ts'

export interface Decision {
  readonly answer: Answer
  readonly job: Job | undefined
  /** Why there is no job, or that there is one: a metric label. */
  readonly outcome: ReviewOutcome
}

export interface Job {
  readonly key: ClaimKey
  readonly hints: Hints
}

export type ReviewOutcome = 'queued' | 'unbound' | 'dry-run' | 'deleting' | 'not-a-claim'

export const reviewOutcomes: readonly ReviewOutcome[] = ['queued', 'unbound', 'dry-run', 'deleting', 'not-a-claim']

/** Pure, and never slower than a few lines: the API server holds somebody's `kubectl apply` meanwhile. */
export function decide(request: ReviewRequest): Decision {
  const claim = request.object
  if (!isClaimWrite(request) || claim === undefined) return noJob('not-a-claim')
  if (request.dryRun) return noJob('dry-run')
  if (claim.deleting) return noJob('deleting')
  // The bind writes the volume's name through the same resource, so it calls here itself.
  if (claim.volumeName === undefined) return noJob('unbound')
  return {
    answer: allowed,
    outcome: 'queued',
    job: { key: claimKey(claim.namespace, claim.name), hints: hintsOf(request) },
  }
}

function isClaimWrite({ resource, subResource, operation }: ReviewRequest): boolean {
  if (resource.group !== '' || resource.resource !== 'persistentvolumeclaims' || subResource !== undefined) return false
  return operation === 'CREATE' || operation === 'UPDATE'
}

function hintsOf({ object, oldObject }: ReviewRequest): Hints {
  const uid = object?.uid ?? oldObject?.uid
  // Of an update, the version before it: only a later one in the store can hold what was reviewed.
  const newerThan = oldObject?.resourceVersion
  return {
    lane: 'fresh',
    ...(uid !== undefined && { uid }),
    ...(newerThan !== undefined && { newerThan }),
    ...(object?.volumeName !== undefined && { volumeName: object.volumeName }),
  }
}

function noJob(outcome: ReviewOutcome): Decision {
  return { answer: allowed, job: undefined, outcome }
}
