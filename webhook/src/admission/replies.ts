import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import { claimWriteOf, decide } from './decide.ts'
import type { Job, ReviewOutcome } from './decide.ts'
import type { DefaultLabels, MutationOutcome } from './default-labels.ts'
import type { Reply } from './handler.ts'
import { silence } from './judge.ts'
import type { ClaimJudge, ToldProblem } from './judge.ts'
import { allowed } from './review.ts'
import type { ReviewRequest } from './review.ts'

/** Undefined where nobody knows it in time. Never rejects, and waits for half a second at the most. */
export type FindNamespace = (name: string) => Promise<NamespaceInfo | undefined>

export interface ValidationDeps {
  readonly judge: ClaimJudge
  /** Undefined where no rule reads a namespace's labels. */
  readonly findNamespace: FindNamespace | undefined
  /** Takes the job in; must return at once and never throw. */
  readonly enqueue: (job: Job) => void
  /** Counts what was said, dry runs left out: GitOps tools repeat those all day long. */
  readonly onTold: (told: readonly ToldProblem[]) => void
}

/** Answers `POST /validate`. */
export function validation({ judge, findNamespace, enqueue, onTold }: ValidationDeps) {
  return async (request: ReviewRequest): Promise<Reply<ReviewOutcome>> => {
    const write = claimWriteOf(request)
    let judgement = silence
    if (write !== undefined && judge.concerns(write)) {
      judgement = judge.judge(write, await findNamespace?.(write.object.namespace))
    }
    const { answer, job, outcome } = decide(request, judgement)
    const afterwards = () => {
      if (!request.dryRun) onTold(judgement.told)
      if (job !== undefined) enqueue(job)
    }
    return { answer, outcome, afterwards }
  }
}

export interface MutationDeps {
  readonly defaults: DefaultLabels
  readonly findNamespace: FindNamespace | undefined
}

/** Answers `POST /mutate`. Has no effect beyond its answer, so that a dry run is answered like any other review. */
export function mutation({ defaults, findNamespace }: MutationDeps) {
  return async (request: ReviewRequest): Promise<Reply<MutationOutcome>> => {
    const claim = claimWriteOf(request)?.object
    if (claim === undefined) return { answer: allowed, outcome: 'not-a-claim' }
    const namespace = defaults.needsNamespace ? await findNamespace?.(claim.namespace) : undefined
    return defaults.answerFor(claim, namespace)
  }
}
