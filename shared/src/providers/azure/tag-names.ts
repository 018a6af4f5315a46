import { FoldedMap } from '../../tags/folded-map.ts'

/**
 * Azure tells no two tag names of a resource apart by case, and keeps the case in which a name was first written. So
 * names go out in the case that the user chose, and are compared without it.
 */

/** Equal for names that Azure takes for one. Letter by letter, as .NET does it: no letter becomes two. */
export function foldedName(name: string): string {
  if (!/[^ -~]/.test(name)) return name.toUpperCase()
  return Array.from(name, (letter) => {
    const upper = letter.toUpperCase()
    return upper.length === letter.length ? upper : letter
  }).join('')
}

/**
 * Tags by name, found in whatever case one asks; iterating shows the case in which they stand. The planner works on
 * this without knowing: a wished `App` finds an observed `app`.
 */
export class TagsByName<Value = string> extends FoldedMap<Value> {
  constructor(entries: Iterable<readonly [string, Value]> = []) {
    super(foldedName, entries)
  }
}
