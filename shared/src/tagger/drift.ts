import type { Claim } from '../claims/claim.ts'
import type { DiskRef } from '../claims/disk.ts'
import type { Volume } from '../claims/volume.ts'
import type { ConflictPolicy } from '../plan/plan.ts'
import { planChanges } from '../plan/plan.ts'
import { isEmpty } from '../plan/tag-changes.ts'
import type { DiskProvider } from '../providers/provider.ts'
import { desiredTags } from '../tags/desired-tags.ts'
import type { TagSet } from '../tags/tag-set.ts'
import { ownRecord, recordBasis, removable } from './record-basis.ts'

export interface DriftInput {
  readonly claim: Claim
  readonly volume: Volume
  readonly disk: DiskRef
}

export interface DriftRules {
  readonly provider: DiskProvider
  readonly policy: ConflictPolicy
}

/** Whether a disk, as a bulk read saw it, is not what its claim wishes: the same plan that the path would make. */
export function hasDrifted(
  { claim, volume, disk }: DriftInput,
  observed: TagSet,
  { provider, policy }: DriftRules,
): boolean {
  const plan = planChanges({
    wish: provider.normalize(desiredTags({ claim })).tags,
    owned: removable(ownRecord(recordBasis(volume, disk)), (key) => provider.isProtectedKey(key)),
    observed,
    policy,
    limit: provider.tagsPerDisk,
  })
  return !isEmpty(plan.changes)
}

/**
 * Whether a bulk read can say anything about this disk: not while a change is under way or so young that the read may be
 * older, and not where there is nothing to compare.
 */
export function isComparable({ claim, volume, disk }: DriftInput, readAtMs: number, { provider }: DriftRules): boolean {
  const record = ownRecord(recordBasis(volume, disk))
  if (record === undefined) return provider.normalize(desiredTags({ claim })).tags.size > 0
  return record.intent === undefined && record.settledAtMs < readAtMs - provider.readLagMs
}
