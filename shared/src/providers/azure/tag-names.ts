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
export class TagsByName<Value = string> extends Map<string, Value> {
  readonly #spellings = new Map<string, string>()

  constructor(entries: Iterable<readonly [string, Value]> = []) {
    super()
    for (const [name, value] of entries) this.set(name, value)
  }

  override get(name: string): Value | undefined {
    return super.get(this.#spellingOf(name))
  }

  override has(name: string): boolean {
    return super.has(this.#spellingOf(name))
  }

  override set(name: string, value: Value): this {
    const folded = foldedName(name)
    const spelling = this.#spellings.get(folded) ?? name
    this.#spellings.set(folded, spelling)
    return super.set(spelling, value)
  }

  override delete(name: string): boolean {
    const spelling = this.#spellingOf(name)
    this.#spellings.delete(foldedName(name))
    return super.delete(spelling)
  }

  override clear(): void {
    this.#spellings.clear()
    super.clear()
  }

  #spellingOf(name: string): string {
    return this.#spellings.get(foldedName(name)) ?? name
  }
}
