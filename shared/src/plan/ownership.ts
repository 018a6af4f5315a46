import type { AppliedRecord, TouchedTag } from './applied-record.ts'

/**
 * Which keys of a disk are ours, and under which values: the settled tags and those of an open intent together, since
 * either may be what stands there.
 */
export type Ownership = ReadonlyMap<string, TouchedTag>

export const ownsNothing: Ownership = new Map()

export function ownershipOf(record: AppliedRecord): Ownership {
  const owned = new Map<string, TouchedTag>()
  for (const [key, tag] of record.settled) owned.set(key, { values: [tag.value], before: tag.before })
  for (const [key, touched] of record.intent?.touched ?? []) owned.set(key, unite(owned.get(key), touched))
  return owned
}

export function unite(a: TouchedTag | undefined, b: TouchedTag): TouchedTag {
  if (a === undefined) return b
  return { values: [...new Set([...a.values, ...b.values])], before: a.before || b.before }
}
