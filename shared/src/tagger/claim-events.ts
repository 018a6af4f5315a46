import type { DiskRef } from '../claims/disk.ts'
import type { Volume } from '../claims/volume.ts'
import type { LeftReason, LeftTag } from '../plan/applied-record.ts'
import type { TagChanges } from '../plan/tag-changes.ts'
import type { TagProblem } from '../tags/tag-set.ts'
import type { CloudFailure } from './outcome.ts'
import type { ClaimEvent } from './ports.ts'

/** What the owner of a claim reads about it: on change and on failure only. `docs/operations.md` explains each reason. */
export function taggedEvent(disk: DiskRef, changes: TagChanges): ClaimEvent {
  const parts: string[] = []
  if (changes.set.size > 0) parts.push(`set ${[...changes.set].map(([key, value]) => `${key}=${value}`).join(', ')}`)
  if (changes.remove.size > 0) parts.push(`removed ${[...changes.remove.keys()].join(', ')}`)
  return { type: 'Normal', reason: 'Tagged', note: `${disk.id}: ${parts.join('; ')}` }
}

const leftReasons: Readonly<Record<LeftReason, string>> = {
  kept: 'the disk already has another value for it, which is kept',
  'over-limit': 'the disk has no room for another tag',
}

/** Undefined where every label arrived as it is. */
export function skippedEvent(
  disk: DiskRef,
  problems: readonly TagProblem[],
  left: ReadonlyMap<string, LeftTag>,
): ClaimEvent | undefined {
  const notes = problems.map(({ label, message }) => `label ${label}: ${message}`)
  for (const [key, { reason }] of left) notes.push(`tag ${key} is not written: ${leftReasons[reason]}`)
  if (notes.length === 0) return undefined
  return { type: 'Warning', reason: 'TagsSkipped', note: `${disk.id}: ${notes.join('; ')}` }
}

export function unreadableRecordEvent(volume: Volume, problem: string): ClaimEvent {
  const note = `the record on volume ${volume.name} cannot be read (${problem}): it is left as it is and no tag is removed`
  return { type: 'Warning', reason: 'RecordUnreadable', note }
}

export function contestedEvent(disk: DiskRef, keys: readonly string[]): ClaimEvent {
  const note = `${disk.id}: somebody else keeps changing ${keys.join(', ')}; from now on each sweep sets it once`
  return { type: 'Warning', reason: 'TagContested', note }
}

export function sharedDiskEvent(disk: DiskRef, elder: Volume): ClaimEvent {
  const note = `${disk.id}: the older volume ${elder.name} names this disk too; the tags of its claim count, this claim's do not`
  return { type: 'Warning', reason: 'DiskShared', note }
}

export function unsupportedEvent(detail: string): ClaimEvent {
  return { type: 'Warning', reason: 'VolumeUnsupported', note: `the volume's handle names no disk: ${detail}` }
}

/** Undefined for failures that mend themselves: those are for metrics and logs until they last. */
export function failureEvent(failure: CloudFailure, isLasting: boolean): ClaimEvent | undefined {
  const { reason, message } = failure
  switch (reason) {
    case 'denied':
      return { type: 'Warning', reason: 'AccessDenied', note: message }
    case 'invalid':
      return { type: 'Warning', reason: 'TagFailed', note: message }
    case 'not-found':
    case 'throttled':
    case 'unavailable':
    case 'conflict':
      return isLasting ? { type: 'Warning', reason: 'TagFailed', note: message } : undefined
    default:
      return reason satisfies never
  }
}
