import type { Claim } from '../claims/claim.ts'
import type { Cloud } from '../claims/disk-sources.ts'
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
  readonly cloud: Cloud
  readonly provider: DiskProvider
  readonly policy: ConflictPolicy
}

/** Whether a disk, as a bulk read saw it, is not what its claim wishes: the same plan that the path would make. */
export function hasDrifted(
  { claim, volume, disk }: DriftInput,
  observed: TagSet,
  { provider, policy, cloud }: DriftRules,
): boolean {
  const record = ownRecord(recordBasis(volume, disk, cloud))
  // Nobody came back for it: whatever the disk shows, the record has to be closed.
  if (record?.intent !== undefined) return true
  const plan = planChanges({
    wish: provider.normalize(desiredTags({ claim })).tags,
    owned: removable(record, (key) => provider.isProtectedKey(key)),
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
export function isComparable(
  { claim, volume, disk }: DriftInput,
  readAtMs: number,
  { provider, cloud }: DriftRules,
): boolean {
  const record = ownRecord(recordBasis(volume, disk, cloud))
  const oldEnoughMs = readAtMs - Math.max(provider.readLagMs, youngMs)
  const lagBeforeMs = readAtMs - provider.readLagMs
  if (record?.intent !== undefined) return record.intent.untilMs < lagBeforeMs
  if (record !== undefined) return record.settledAtMs < lagBeforeMs
  if (claim.createdAtMs > oldEnoughMs || volume.createdAtMs > oldEnoughMs) return false
  return provider.normalize(desiredTags({ claim })).tags.size > 0
}

/** A disk without a record that came within this time is on its way through the other doors. */
const youngMs = 60_000
