/** What was started, ended in the opposite order. */
export class Parts {
  readonly #parts: { stop(): Promise<void> }[] = []

  add<Part extends { stop(): Promise<void> }>(part: Part): Part {
    this.#parts.push(part)
    return part
  }

  async stop(): Promise<void> {
    for (const part of this.#parts.toReversed()) await part.stop()
  }
}
