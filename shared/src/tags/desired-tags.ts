import type { Claim } from '../claims/claim.ts'
import type { TagSet } from './tag-set.ts'

/** Everything that tags may be derived from. Namespace and storage class join here when rules ask for them. */
export interface TagSources {
  readonly claim: Claim
}

/**
 * What the owner wishes, before any cloud has bent it: today every label of the claim. Rules (defaults, namespace
 * labels, enforced tags, renames) are further layers of this one function, later wins.
 */
export function desiredTags({ claim }: TagSources): TagSet {
  return new Map(Object.entries(claim.labels))
}
