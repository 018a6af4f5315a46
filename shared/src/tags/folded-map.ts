/**
 * A map that takes keys for one where `fold` makes them equal; iterating shows each in the spelling that came first. A
 * Map to all who use it, so that plans need not know which cloud they are made for.
 */
export class FoldedMap<Value> extends Map<string, Value> {
  readonly #fold: (key: string) => string
  readonly #spellings = new Map<string, string>()

  constructor(fold: (key: string) => string, entries: Iterable<readonly [string, Value]> = []) {
    super()
    this.#fold = fold
    for (const [key, value] of entries) this.set(key, value)
  }

  override get(key: string): Value | undefined {
    return super.get(this.#spellingOf(key))
  }

  override has(key: string): boolean {
    return super.has(this.#spellingOf(key))
  }

  override set(key: string, value: Value): this {
    const folded = this.#fold(key)
    const spelling = this.#spellings.get(folded) ?? key
    this.#spellings.set(folded, spelling)
    return super.set(spelling, value)
  }

  override delete(key: string): boolean {
    const spelling = this.#spellingOf(key)
    this.#spellings.delete(this.#fold(key))
    return super.delete(spelling)
  }

  override clear(): void {
    this.#spellings.clear()
    super.clear()
  }

  #spellingOf(key: string): string {
    return this.#spellings.get(this.#fold(key)) ?? key
  }
}
