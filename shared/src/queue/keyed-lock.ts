/** Lets one holder at a time in for each key; the others wait in order. Holds nothing for keys that nobody uses. */
export class KeyedLock<K> {
  readonly #tails = new Map<K, Promise<void>>()

  async run<T>(key: K, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const { promise: mine, resolve: release } = Promise.withResolvers<void>()
    this.#tails.set(key, mine)
    await before
    try {
      return await work()
    } finally {
      if (this.#tails.get(key) === mine) this.#tails.delete(key)
      release()
    }
  }
}
