import type { Claim } from '../claims/claim.ts'
import type { Volume } from '../claims/volume.ts'
import type { AppliedRecord } from '../plan/applied-record.ts'
import type { ConflictPolicy } from '../plan/plan.ts'
import type { TagSet } from '../tags/tag-set.ts'

/** A provisioner writes its own few tags while it creates a disk; for as long, nobody else's key can be on it unseen. */
const freshVolumeMs = 5 * 60_000

export interface ObservationInput {
  readonly wish: TagSet
  /** Our record of this very disk; undefined where there is none that we may rest on. */
  readonly record: AppliedRecord | undefined
  readonly policy: ConflictPolicy
  readonly replacesWholeSet: boolean
  readonly driftSuspected: boolean
  /** The disk was made for this claim within the last minutes. */
  readonly freshVolume: boolean
}

/**
 * The read is most of the latency and half of the calls, so it is made only where it can change what is written: not for
 * keys that the record already holds, and not for the first tags of a disk that was just made for this claim.
 */
export function needsObservation(input: ObservationInput): boolean {
  const { record, wish } = input
  if (input.replacesWholeSet || input.driftSuspected || input.policy === 'preserve') return true
  if (record === undefined) return !input.freshVolume
  if (record.intent !== undefined) return true
  for (const key of wish.keys()) if (!record.settled.has(key)) return true
  return false
}

/**
 * Provisioners name a volume after the uid of the claim that they make it for, and mark it as theirs. Guides for static
 * volumes copy the mark but cannot know the uid.
 */
export function isFreshVolume(claim: Claim, volume: Volume, nowMs: number): boolean {
  if (volume.provisionedBy === undefined || !volume.name.endsWith(claim.uid)) return false
  return nowMs - volume.createdAtMs < freshVolumeMs
}
