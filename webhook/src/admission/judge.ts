import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import type { AdmissionConfig, Verdict } from '@k8s-cloud-tagger/shared/config/config.ts'
import { changesTags, touches } from './claim-changes.ts'
import { ClaimProblems } from './claim-problems.ts'
import type { ClaimProblem, ClaimProblemsDeps } from './claim-problems.ts'
import { asClaim } from './review.ts'
import type { ReviewedClaim } from './review.ts'
import { denialFor, warningsFor } from './wording.ts'

/** What is said about a claim, and for the metrics how often. */
export interface Judgement {
  readonly warnings: readonly string[]
  /** Why the write is refused; undefined where it is not. */
  readonly denial: string | undefined
  readonly told: readonly ToldProblem[]
}

export interface ToldProblem {
  readonly kind: ClaimProblem['kind']
  readonly verdict: Exclude<Verdict, 'off'>
}

export const silence: Judgement = { warnings: [], denial: undefined, told: [] }

export interface JudgeDeps extends Omit<ClaimProblemsDeps, 'requiredLabels'> {
  readonly admission: AdmissionConfig
  /** Nothing is written, so nothing is refused for it either: it is only warned of. */
  readonly reportOnly: boolean
}

/** A claim as it would be stored, and as it is stored now; undefined where it is not. */
export interface ClaimWrite {
  readonly object: ReviewedClaim
  readonly oldObject: ReviewedClaim | undefined
}

/**
 * What the answer to `kubectl apply` says. Pure.
 *
 * - A claim that is being deleted hears nothing, nor does an update that leaves labels and annotations alone: a bind, a
 *   resize and a finalizer that goes are never in the way of a rule.
 * - An update is refused only for what it brings. A claim that was made before a rule was tightened can still be edited: of
 *   its old problems it is warned. A label whose value changes is judged anew.
 * - Out of scope, and opted out, means silence.
 */
export class ClaimJudge {
  readonly #deps: JudgeDeps
  readonly #problems: ClaimProblems
  readonly #isMute: boolean

  constructor(deps: JudgeDeps) {
    const { problems, requiredLabels } = deps.admission
    this.#deps = deps
    this.#problems = new ClaimProblems({ ...deps, requiredLabels })
    this.#isMute = Object.values(problems).every((verdict) => verdict === 'off')
  }

  /** Whether there can be anything to say, so that the namespace is worth looking up. */
  concerns({ object, oldObject }: ClaimWrite): boolean {
    if (this.#isMute || object.deleting) return false
    return oldObject === undefined || changesTags(object, oldObject, this.#deps.rules.readsAnnotation)
  }

  judge(write: ClaimWrite, namespace: NamespaceInfo | undefined): Judgement {
    const { admission, reportOnly } = this.#deps
    if (!this.concerns(write)) return silence
    const problems = this.#problems
      .of(asClaim(write.object), namespace)
      .filter(({ name }) => admission.problems[name] !== 'off')
    if (problems.length === 0) return silence

    const forbidden = reportOnly ? [] : problems.filter(({ name }) => admission.problems[name] === 'deny')
    const denied = new Set(forbidden.length === 0 ? [] : this.#brought(forbidden, write, namespace))
    const warned = problems.filter((problem) => !denied.has(problem))
    return {
      warnings: warningsFor(warned),
      denial: denied.size === 0 ? undefined : denialFor([...denied]),
      told: problems.map((problem) => ({ kind: problem.kind, verdict: denied.has(problem) ? 'deny' : 'warn' })),
    }
  }

  #brought(
    problems: readonly ClaimProblem[],
    { object, oldObject }: ClaimWrite,
    namespace: NamespaceInfo | undefined,
  ): readonly ClaimProblem[] {
    if (oldObject === undefined) return problems
    const [now, before] = [asClaim(object), asClaim(oldObject)]
    const had = new Set(this.#problems.of(before, namespace).map((problem) => identityOf(problem)))
    return problems.filter(
      (problem) => !had.has(identityOf(problem)) || touches(problem.key, now, before, this.#deps.rules),
    )
  }
}

function identityOf({ kind, noun, key }: ClaimProblem): string {
  return `${kind} ${noun} ${key}`
}
