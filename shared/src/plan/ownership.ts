import { FoldedMap } from '../tags/folded-map.ts'
import type { AppliedRecord, TouchedTag } from './applied-record.ts'

/**
 * Which keys of a disk are ours, and under which values: the settled tags and those of an open intent together, since
 * either may be what stands there. Keys are told apart as the cloud does: where case does not count to it, a tag is ours
 * in any case.
 */
export type Ownership = ReadonlyMap<string, TouchedTag>

export const ownsNothing: Ownership = new Map()

/** `canonicalKey` is the provider's; see there. */
export function ownershipOf(record: AppliedRecord, canonicalKey: (key: string) => string): Ownership {
  const owned = new FoldedMap<TouchedTag>(canonicalKey)
  for (const [key, { value, before }] of record.settled)
    owned.set(key, unite(owned.get(key), { values: [value], before }))
  for (const [key, touched] of record.intent?.touched ?? []) owned.set(key, unite(owned.get(key), touched))
  return owned
}

export function unite(a: TouchedTag | undefined, b: TouchedTag): TouchedTag {
  if (a === undefined) return b
  return { values: [...new Set([...a.values, ...b.values])], before: a.before || b.before }
}
