import type { Clock } from '../runtime/clock.ts'

const windowMs = 60 * 60_000
const rewritesFreely = 3
/** More disks than these in a fight at once are no fight of single writers; the oldest are forgotten. */
const rememberedMax = 10_000

/**
 * Somebody else keeps changing a tag of ours. After three rewrites of one tag of one disk within an hour, only the sweep
 * writes it again, and its owner is told: a fight at full speed would cost both sides their calls.
 */
export class ContestedTags {
  readonly #clock: Clock
  /** By disk and tag: when it was written again, in monotonic milliseconds. */
  readonly #rewrites = new Map<string, readonly number[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isContested(disk: string, key: string): boolean {
    return this.#recent(`${disk}\n${key}`).length > rewritesFreely
  }

  rewritten(disk: string, key: string): void {
    const name = `${disk}\n${key}`
    const recent = [...this.#recent(name), this.#clock.monotonicMs()].slice(-rewritesFreely - 1)
    this.#rewrites.delete(name)
    this.#rewrites.set(name, recent)
    if (this.#rewrites.size <= rememberedMax) return
    const [oldest] = this.#rewrites.keys()
    if (oldest !== undefined) this.#rewrites.delete(oldest)
  }

  #recent(name: string): readonly number[] {
    const sinceMs = this.#clock.monotonicMs() - windowMs
    return (this.#rewrites.get(name) ?? []).filter((atMs) => atMs > sinceMs)
  }
}
