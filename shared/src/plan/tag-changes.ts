/**
 * What one write does to one disk. A key is never in both maps. `remove` holds, by key, the values under which the tag
 * may be deleted: a tag whose value is none of them was changed by somebody else and must stay.
 */
export interface TagChanges {
  readonly set: ReadonlyMap<string, string>
  readonly remove: ReadonlyMap<string, readonly string[]>
}

export const noChanges: TagChanges = { set: new Map(), remove: new Map() }

export function isEmpty(changes: TagChanges): boolean {
  return changes.set.size === 0 && changes.remove.size === 0
}
