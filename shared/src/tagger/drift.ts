import type { Claim } from '../claims/claim.ts'
import type { DiskRef } from '../claims/disk.ts'
import type { NamespaceInfo } from '../claims/namespace.ts'
import type { Volume } from '../claims/volume.ts'
import { planChanges } from '../plan/plan.ts'
import { isEmpty } from '../plan/tag-changes.ts'
import type { TagSet } from '../tags/tag-set.ts'
import { ownRecord, recordBasis, removable } from './record-basis.ts'
import { mayRemoveFrom, wishOf } from './tagging-rules.ts'
import type { TaggingRules } from './tagging-rules.ts'

export interface DriftInput {
  readonly claim: Claim
  readonly namespace: NamespaceInfo | undefined
  readonly volume: Volume
  readonly disk: DiskRef
}

/** Whether a disk, as a bulk read saw it, is not what its claim wishes: the same plan that the path would make. */
export function hasDrifted(input: DriftInput, observed: TagSet, rules: TaggingRules): boolean {
  const { provider, cloud, conflict, adopt } = rules
  const { volume, disk } = input
  const record = ownRecord(recordBasis(volume, disk, cloud))
  // Nobody came back for it: whatever the disk shows, the record has to be closed.
  if (record?.intent !== undefined) return true
  const wish = wishOf(input, rules)
  const plan = planChanges({
    wish: wish.tags,
    owned: removable(record, provider),
    observed,
    policy: conflict,
    mayRemove: mayRemoveFrom(disk.id, wish, rules),
    adopt,
    limit: provider.tagsPerDisk,
  })
  return !isEmpty(plan.changes)
}

/**
 * Whether a bulk read can say anything about this disk: not while a change is under way or so young that the read may be
 * older, and not where there is nothing to compare.
 */
export function isComparable(input: DriftInput, readAtMs: number, rules: TaggingRules): boolean {
  const { claim, volume, disk } = input
  const { provider, cloud } = rules
  const record = ownRecord(recordBasis(volume, disk, cloud))
  const oldEnoughMs = readAtMs - Math.max(provider.readLagMs, youngMs)
  const lagBeforeMs = readAtMs - provider.readLagMs
  if (record?.intent !== undefined) return record.intent.untilMs < lagBeforeMs
  if (record?.yieldsTo !== undefined) return false
  if (record !== undefined) return record.settledAtMs < lagBeforeMs
  if (claim.createdAtMs > oldEnoughMs || volume.createdAtMs > oldEnoughMs) return false
  return wishOf(input, rules).tags.size > 0
}

/** A disk without a record that came within this time is on its way through the other doors. */
const youngMs = 60_000
