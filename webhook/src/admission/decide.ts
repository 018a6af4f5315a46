import { claimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { ClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { Hints } from '@k8s-cloud-tagger/shared/queue/hints.ts'
import type { ClaimWrite, Judgement } from './judge.ts'
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

export type ReviewOutcome = 'queued' | 'unbound' | 'denied' | 'dry-run' | 'deleting' | 'not-a-claim'

export const reviewOutcomes: readonly ReviewOutcome[] = [
  'queued',
  'unbound',
  'denied',
  'dry-run',
  'deleting',
  'not-a-claim',
]

/**
 * Pure, and never slower than a few lines: the API server holds somebody's `kubectl apply` meanwhile. A dry run hears what
 * the write would hear, and changes nothing.
 */
export function decide(request: ReviewRequest, judgement: Judgement): Decision {
  const claim = claimWriteOf(request)?.object
  if (claim?.name === undefined) return noJob('not-a-claim')
  const answer = answerOf(judgement)
  if (request.dryRun) return noJob('dry-run', answer)
  if (claim.deleting) return noJob('deleting', answer)
  if (!answer.allowed) return noJob('denied', answer)
  // The bind writes the volume's name through the same resource, so it calls here itself.
  if (claim.volumeName === undefined) return noJob('unbound', answer)
  return {
    answer,
    outcome: 'queued',
    job: { key: claimKey(claim.namespace, claim.name), hints: hintsOf(request) },
  }
}

/** The claim of a review that creates or changes one; undefined for every other review. */
export function claimWriteOf({
  resource,
  subResource,
  operation,
  object,
  oldObject,
}: ReviewRequest): ClaimWrite | undefined {
  if (resource.group !== '' || resource.resource !== 'persistentvolumeclaims' || subResource !== undefined) {
    return undefined
  }
  if (object === undefined) return undefined
  if (operation === 'CREATE') return { object, oldObject: undefined }
  return operation === 'UPDATE' ? { object, oldObject } : undefined
}

function answerOf({ warnings, denial }: Judgement): Answer {
  if (denial !== undefined) return { allowed: false, message: denial, warnings }
  return warnings.length === 0 ? allowed : { allowed: true, warnings }
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

function noJob(outcome: ReviewOutcome, answer = allowed): Decision {
  return { answer, job: undefined, outcome }
}
