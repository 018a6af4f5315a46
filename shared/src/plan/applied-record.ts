import type { Cloud } from '../claims/disk-sources.ts'
import type { TagSet } from '../tags/tag-set.ts'

/**
 * What the annotation `k8s-cloud-tagger/applied` on a volume says: which tags of its disk are ours, and which change is
 * under way. It lives on the volume because tenants can edit claims, not volumes.
 */
export interface AppliedRecord {
  readonly volumeUid: string
  readonly claimUid: string
  readonly cloud: Cloud
  readonly diskId: string
  /** Wall time of the last settle, in milliseconds. */
  readonly settledAtMs: number
  /** The tags that we put on the disk, as written. */
  readonly settled: ReadonlyMap<string, OwnedTag>
  /** Wished tags that were left out on purpose, so that leaving them out again costs no cloud call. */
  readonly left: ReadonlyMap<string, LeftTag>
  /** Undefined while no change is under way. */
  readonly intent: Intent | undefined
  /** The name of an older volume of the same disk, whose claim's tags count: this one is left alone. */
  readonly yieldsTo?: string | undefined
}

export interface OwnedTag {
  readonly value: string
  /** The key was on the disk before us: its value may be ours, its removal never is. */
  readonly before: boolean
}

export interface LeftTag {
  readonly value: string
  readonly reason: LeftReason
}

export type LeftReason =
  /** Policy `preserve`: somebody else's value stands there. */
  | 'kept'
  /** The disk is full. */
  | 'over-limit'

/**
 * A change that was announced and not yet confirmed. Until it is closed, any value in it may be on the disk, now or
 * later: a call whose client gave up can still land.
 */
export interface Intent {
  /** The process that opened it. */
  readonly by: string
  /** Wall time in milliseconds after which no call of this intent can land any more. */
  readonly untilMs: number
  /** Every key that the change touches, with each value of ours that it may have meanwhile. */
  readonly touched: ReadonlyMap<string, TouchedTag>
}

export interface TouchedTag {
  readonly values: readonly string[]
  readonly before: boolean
}

/**
 * Whether a record says that the disk already carries exactly this wish. What is ours and no longer wished counts only
 * where it may be removed.
 */
export function fulfils(record: AppliedRecord, wish: TagSet, mayRemove: (key: string) => boolean): boolean {
  if (record.intent !== undefined) return false
  for (const [key, value] of wish) {
    if ((record.settled.get(key) ?? record.left.get(key))?.value !== value) return false
  }
  for (const key of record.left.keys()) if (!wish.has(key)) return false
  for (const [key, { before }] of record.settled) if (!wish.has(key) && (before || mayRemove(key))) return false
  return true
}
