import type { Claim } from '@k8s-cloud-tagger/shared/claims/claim.ts'
import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import { problemNames } from '@k8s-cloud-tagger/shared/config/admission-schema.ts'
import type { ProblemName } from '@k8s-cloud-tagger/shared/config/config.ts'
import { readOwnTags } from '@k8s-cloud-tagger/shared/tags/own-tags.ts'
import type { TagRules } from '@k8s-cloud-tagger/shared/tags/tag-rules.ts'
import type { TagProblem, TagProblemKind } from '@k8s-cloud-tagger/shared/tags/tag-set.ts'
import { wishFor } from '@k8s-cloud-tagger/shared/tags/wish.ts'
import type { Normalize, Wish } from '@k8s-cloud-tagger/shared/tags/wish.ts'

/** Something about a claim that its owner should know, ready to be told. */
export interface ClaimProblem {
  readonly kind: TagProblemKind | 'missing-label'
  /** The kind's name in the config. */
  readonly name: ProblemName
  readonly noun: 'label' | 'annotation' | 'tag'
  /** Key of the label, of the annotation, or of the tag among the claim's own. */
  readonly key: string
  /** A clause on why, and one on what was done, joined by a semicolon. */
  readonly message: string
  /** What is written instead; undefined where nothing is. */
  readonly becomes: { readonly key: string; readonly value: string } | undefined
}

export interface ClaimProblemsDeps {
  readonly rules: TagRules
  readonly normalize: Normalize
  readonly requiredLabels: readonly string[]
  /** Whether it depends on a namespace's labels which claims are managed. */
  readonly scopeNeedsNamespace: boolean
}

/** Finds what of a claim's labels and annotations will not arrive as it is, by the function that the workers act on. */
export class ClaimProblems {
  readonly #deps: ClaimProblemsDeps

  constructor(deps: ClaimProblemsDeps) {
    this.#deps = deps
  }

  /**
   * None for a claim that the rules leave alone. Where the namespace is not known and would have to be, what depends on it
   * is not told: rather nothing than something wrong.
   */
  of(claim: Claim, namespace: NamespaceInfo | undefined): readonly ClaimProblem[] {
    const { rules, normalize, requiredLabels, scopeNeedsNamespace } = this.#deps
    if (namespace === undefined && scopeNeedsNamespace) return []
    if (rules.outOfScope({ claim, namespace }) !== undefined) return []
    const wish = wishFor({ claim, namespace }, rules, normalize)
    const problems: ClaimProblem[] = requiredLabels
      .filter((label) => !Object.hasOwn(claim.labels, label))
      .map((label) => missingLabel(label))
    if (wish.problems.length === 0) return problems
    const own = ownTagsOf(claim, rules)
    const isBlind = namespace === undefined && rules.needsNamespace
    for (const problem of wish.problems) {
      const noun = nounOf(problem, { claim, rules, own })
      if (noun === undefined || (isBlind && problem.kind === 'invalid-template')) continue
      problems.push(told(problem, noun, wish))
    }
    return problems
  }
}

function told({ kind, label, tag, message }: TagProblem, noun: ClaimProblem['noun'], wish: Wish): ClaimProblem {
  const value = tag === undefined || kind === 'enforced' ? undefined : wish.tags.get(tag)
  const becomes = tag === undefined || value === undefined ? undefined : { key: tag, value }
  return { kind, name: problemNames[kind], noun, key: label, message, becomes }
}

function missingLabel(label: string): ClaimProblem {
  const message = 'it is required and missing'
  return { kind: 'missing-label', name: 'missingLabel', noun: 'label', key: label, message, becomes: undefined }
}

/**
 * Undefined for what the config or the namespace brought: the claim's owner did not write it and cannot mend it, and with
 * `deny` nobody could make a claim any more. A template and a full disk are the exceptions, as the claim has a part in both.
 */
function nounOf(
  { kind, label }: TagProblem,
  { claim, rules, own }: { readonly claim: Claim; readonly rules: TagRules; readonly own: ReadonlyMap<string, string> },
): ClaimProblem['noun'] | undefined {
  if (kind === 'invalid-annotation') return 'annotation'
  if (Object.hasOwn(claim.labels, label) && rules.takesLabel(label)) return 'label'
  if (Object.hasOwn(claim.annotations, label) && rules.takesAnnotation(label)) return 'annotation'
  if (own.has(label) || kind === 'invalid-template' || kind === 'over-limit') return 'tag'
  return undefined
}

/** The claim's own tags as they stand in its annotation, those with an unusable value included. */
export function ownTagsOf(claim: Claim, rules: TagRules): ReadonlyMap<string, string> {
  const annotation = rules.ownTagsAnnotations.find((name) => Object.hasOwn(claim.annotations, name))
  const read = annotation === undefined ? undefined : readOwnTags(claim.annotations[annotation] ?? '')
  if (read === undefined || !read.ok) return new Map()
  return new Map([...read.tags, ...read.refused.map((key) => [key, ''] as const)])
}
