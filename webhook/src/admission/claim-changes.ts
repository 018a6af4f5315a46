import type { Claim } from '@k8s-cloud-tagger/shared/claims/claim.ts'
import type { TagRules } from '@k8s-cloud-tagger/shared/tags/tag-rules.ts'
import { ownTagsOf } from './claim-problems.ts'
import type { ReviewedClaim } from './review.ts'

/**
 * What Kubernetes itself writes on claims: the scheduler, the binder, provisioners and kubectl. A bind adds two of them,
 * and must hear nothing.
 */
const clusterPrefixes = [
  'pv.kubernetes.io/',
  'volume.kubernetes.io/',
  'volume.beta.kubernetes.io/',
  'control-plane.alpha.kubernetes.io/',
  'kubectl.kubernetes.io/',
]

/** Whether an update changes a label, or an annotation that somebody wrote and a rule reads. */
export function changesTags(
  now: ReviewedClaim,
  before: ReviewedClaim,
  readsAnnotation: TagRules['readsAnnotation'],
): boolean {
  const counts = (key: string) => readsAnnotation(key) && !clusterPrefixes.some((prefix) => key.startsWith(prefix))
  return differs(now.labels, before.labels, () => true) || differs(now.annotations, before.annotations, counts)
}

type Texts = Readonly<Record<string, string>>

function differs(a: Texts, b: Texts, counts: (key: string) => boolean): boolean {
  const holdsOther = (one: Texts, other: Texts) =>
    Object.entries(one).some(([key, value]) => at(other, key) !== value && counts(key))
  return holdsOther(a, b) || holdsOther(b, a)
}

/** Whether an update changes the label, annotation or own tag of this key. */
export function touches(key: string, now: Claim, before: Claim, rules: TagRules): boolean {
  return (
    at(now.labels, key) !== at(before.labels, key) ||
    at(now.annotations, key) !== at(before.annotations, key) ||
    ownTagsOf(now, rules).get(key) !== ownTagsOf(before, rules).get(key)
  )
}

function at(map: Texts, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}
