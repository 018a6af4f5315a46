import type { LeftTag, OwnedTag, TouchedTag } from './applied-record.ts'
import { ownsNothing } from './ownership.ts'
import type { Ownership } from './ownership.ts'
import type { TagChanges } from './tag-changes.ts'
import type { TagSet } from '../tags/tag-set.ts'

/** What happens to a key that somebody else put on the disk and that a claim wishes too. */
export type ConflictPolicy =
  /** Our value replaces theirs; the key is still never removed by us. */
  | 'overwrite'
  /** Theirs stays, and is reported. */
  | 'preserve'

export interface PlanInput {
  /** In the cloud's own form, protected keys already taken out; in order of precedence, the last give way on a full disk. */
  readonly wish: TagSet
  readonly owned: Ownership
  /** Undefined where the write may rest on the record alone. */
  readonly observed: TagSet | undefined
  readonly policy: ConflictPolicy
  /** Whether a tag of ours that is no longer wished may be taken off; where not, it stays and stays ours. */
  readonly mayRemove: (key: string) => boolean
  /** Whether a tag that stands there as it is wished becomes ours: it was put there by the tool before us. */
  readonly adopt: boolean
  /** Most tags that the disk can hold, foreign ones included. Matters only where the disk was observed. */
  readonly limit: number
}

export interface Plan {
  readonly changes: TagChanges
  /** What is ours once the changes are in force. */
  readonly settled: ReadonlyMap<string, OwnedTag>
  /** What was wished and is left out, with the reason. */
  readonly left: ReadonlyMap<string, LeftTag>
  /** Every key that the changes touch, with each value of ours that it may have until they are confirmed. */
  readonly touched: ReadonlyMap<string, TouchedTag>
}

/**
 * The difference between the wish and the disk. Only keys that are ours, under a value that is ours, are ever removed;
 * a key that is neither wished nor ours is never in the changes.
 *
 * | wished | on the disk      | ours | then                                                  |
 * | ------ | ---------------- | ---- | ----------------------------------------------------- |
 * | yes    | equal            | any  | nothing; ours as before, else marked as there before  |
 * | yes    | different        | yes  | set (drift, or a new value)                           |
 * | yes    | different        | no   | by policy: set and marked as there before, or left    |
 * | yes    | absent           | any  | set                                                   |
 * | no     | a value of ours  | yes  | removed if it may be, unless it was there before us   |
 * | no     | another's value  | yes  | stays, and is no longer ours                          |
 * | no     | anything         | no   | stays                                                 |
 */
export function planChanges(input: PlanInput): Plan {
  const { wish, owned, observed, adopt } = input
  const set = new Map<string, string>()
  const left = new Map<string, LeftTag>()
  const { remove, kept: settled } = unwished(input)
  const room = roomFor(input, remove)
  let added = 0
  for (const [key, value] of wish) {
    const present = observed?.get(key)
    const ours = owned.get(key)
    const isNew = observed !== undefined && present === undefined
    if (keptForOthers(input, key)) {
      left.set(key, { value, reason: 'kept' })
    } else if (isNew && added >= room) {
      left.set(key, { value, reason: 'over-limit' })
    } else {
      if (isNew) added++
      settled.set(key, { value, before: ours?.before ?? wasThereBefore(value, present, adopt) })
      if (!isInForce(value, present, ours, observed)) set.set(key, value)
    }
  }
  return { changes: { set, remove }, settled, left, touched: touchedBy({ set, remove }, settled, owned) }
}

function wasThereBefore(value: string, present: string | undefined, adopt: boolean): boolean {
  return present !== undefined && !(adopt && present === value)
}

function isInForce(
  value: string,
  present: string | undefined,
  ours: TouchedTag | undefined,
  observed: TagSet | undefined,
): boolean {
  if (observed !== undefined) return present === value
  return ours !== undefined && ours.values.length === 1 && ours.values[0] === value
}

function keptForOthers({ policy, observed, owned, wish }: PlanInput, key: string): boolean {
  if (policy !== 'preserve') return false
  const present = observed?.get(key)
  if (present === undefined || present === wish.get(key)) return false
  return owned.get(key)?.values.includes(present) !== true
}

/** What is ours and no longer wished: taken off, or kept as ours where it may not be. */
function unwished({ wish, owned, observed, mayRemove }: PlanInput): {
  readonly remove: Map<string, readonly string[]>
  readonly kept: Map<string, OwnedTag>
} {
  const remove = new Map<string, readonly string[]>()
  const kept = new Map<string, OwnedTag>()
  for (const [key, ours] of owned) {
    if (wish.has(key) || ours.before) continue
    const values = valuesThere(key, ours, observed)
    const value = values.at(-1)
    if (value === undefined) continue
    if (mayRemove(key)) remove.set(key, values)
    else kept.set(key, { value, before: false })
  }
  return { remove, kept }
}

/** The values of ours that may stand on the disk. */
function valuesThere(key: string, ours: TouchedTag, observed: TagSet | undefined): readonly string[] {
  if (observed === undefined) return ours.values
  const present = observed.get(key)
  return present !== undefined && ours.values.includes(present) ? [present] : []
}

function roomFor({ observed, limit }: PlanInput, remove: ReadonlyMap<string, unknown>): number {
  if (observed === undefined) return limit
  return Math.max(0, limit - observed.size + remove.size)
}

function touchedBy(
  changes: TagChanges,
  settled: ReadonlyMap<string, OwnedTag>,
  owned: Ownership = ownsNothing,
): Map<string, TouchedTag> {
  const touched = new Map<string, TouchedTag>()
  for (const [key, value] of changes.set) {
    const values = [...new Set([...(owned.get(key)?.values ?? []), value])]
    touched.set(key, { values, before: settled.get(key)?.before ?? false })
  }
  for (const [key, values] of changes.remove) touched.set(key, { values, before: false })
  return touched
}
