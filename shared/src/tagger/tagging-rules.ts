import type { Cloud } from '../claims/disk-sources.ts'
import type { ConflictPolicy } from '../plan/plan.ts'
import type { DiskProvider } from '../providers/provider.ts'
import type { TagRules, TagSources } from '../tags/tag-rules.ts'
import { wishFor } from '../tags/wish.ts'
import type { Wish } from '../tags/wish.ts'
import type { RemovalBrake } from './removal-brake.ts'

/** All that decides, beside the disk itself, what is written: the same for the path, the sweep and the report. */
export interface TaggingRules {
  readonly cloud: Cloud
  readonly provider: DiskProvider
  readonly rules: TagRules
  readonly conflict: ConflictPolicy
  /** Whether tags of ours that are no longer wished are taken off at all. */
  readonly removes: boolean
  readonly adopt: boolean
  readonly brake: RemovalBrake
}

export function wishOf(sources: TagSources, { rules, provider }: TaggingRules): Wish {
  return wishFor(sources, rules, (desired, enforced) => provider.normalize(desired, enforced))
}

/** Whether a tag that this wish lacks may be taken off the disk now. Counts nothing towards the brake. */
export function mayRemoveFrom(disk: string, wish: Wish, { removes, brake }: TaggingRules): (key: string) => boolean {
  if (!removes || !wish.complete) return () => false
  return (key) => brake.allows(key, disk)
}

/** Whether the rules have anything to say about this claim. False as well where its namespace is not known and has to be. */
export function isManaged(sources: TagSources, { rules }: Pick<TaggingRules, 'rules'>): boolean {
  if (rules.needsNamespace && sources.namespace === undefined) return false
  return rules.outOfScope(sources) === undefined
}
