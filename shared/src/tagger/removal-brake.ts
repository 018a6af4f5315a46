import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'

export interface RemovalBrakeOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Tags whose removal from many disks is meant: `tags.acknowledgedRemovals`. */
  readonly acknowledged: readonly string[]
  /** How many disks there are; 0 where that is not known. */
  readonly diskCount: () => number
}

const windowMs = 60 * 60_000
const disksAlways = 20
const shareOfAll = 0.05

interface KeyState {
  /** By disk: when its tag was taken off, in monotonic milliseconds. */
  readonly removedAtMs: Map<string, number>
  /** Disks whose tag stays meanwhile. */
  readonly held: Set<string>
  stopped: boolean
}

/**
 * Stops removals of one tag from more than max(20 disks, 5 %) within an hour, until the config acknowledges them: a typo
 * in a rule, a rule that went, an upgrade. Writes go on. Billing history cannot be tagged again.
 *
 * Nothing of it is stored: after a restart `foresee` finds the same disks waiting.
 */
export class RemovalBrake {
  readonly #options: RemovalBrakeOptions
  readonly #acknowledged: ReadonlySet<string>
  readonly #keys = new Map<string, KeyState>()

  constructor(options: RemovalBrakeOptions) {
    this.#options = options
    this.#acknowledged = new Set(options.acknowledged)
  }

  /** Whether the tag may be taken off this disk now. Counts nothing. */
  allows(key: string, disk: string): boolean {
    if (this.#acknowledged.has(key)) return true
    const state = this.#keys.get(key)
    if (state === undefined) return true
    if (state.stopped) return false
    return state.removedAtMs.has(disk) || this.#recent(state) < this.#limit()
  }

  /** The same, for a removal that follows: counts it, and stops the key where it is one too many. */
  admits(key: string, disk: string): boolean {
    if (this.#acknowledged.has(key)) return true
    const state = this.#stateOf(key)
    if (this.allows(key, disk)) {
      // Taken out first, so that the map stays in the order of time.
      state.removedAtMs.delete(disk)
      state.removedAtMs.set(disk, this.#options.clock.monotonicMs())
      return true
    }
    state.held.add(disk)
    this.#stop(key, state)
    return false
  }

  /** Told before anything is removed: these disks would lose the tag. */
  foresee(key: string, disks: Iterable<string>): void {
    if (this.#acknowledged.has(key)) return
    const state = this.#stateOf(key)
    const waiting = new Set(disks)
    if (waiting.size + this.#recent(state) <= this.#limit()) return
    for (const disk of waiting) state.held.add(disk)
    this.#stop(key, state)
  }

  /** This disk is to carry these tags again, or still: once no disk waits any more, the tag is free again. */
  release(disk: string, isWished: (key: string) => boolean): void {
    for (const [key, state] of this.#keys) {
      if (state.stopped && isWished(key) && state.held.delete(disk) && state.held.size === 0) state.stopped = false
    }
  }

  /** Tags that wait for somebody's word, with how many disks they are on. */
  get held(): ReadonlyMap<string, number> {
    const stopped = [...this.#keys].filter(([, state]) => state.stopped)
    return new Map(stopped.map(([key, state]) => [key, state.held.size]))
  }

  #stop(key: string, state: KeyState): void {
    if (state.stopped) return
    state.stopped = true
    this.#options.logger.warn(
      { tag: key, limit: this.#limit(), disks: state.held.size },
      'removals of this tag are stopped: more disks than the limit would lose it within an hour; if that is meant, name it in tags.acknowledgedRemovals',
    )
  }

  #stateOf(key: string): KeyState {
    const known = this.#keys.get(key)
    if (known !== undefined) return known
    const state: KeyState = { removedAtMs: new Map(), held: new Set(), stopped: false }
    this.#keys.set(key, state)
    return state
  }

  #recent(state: KeyState): number {
    const sinceMs = this.#options.clock.monotonicMs() - windowMs
    for (const [disk, atMs] of state.removedAtMs) {
      // In the order in which they were removed.
      if (atMs > sinceMs) break
      state.removedAtMs.delete(disk)
    }
    return state.removedAtMs.size
  }

  #limit(): number {
    return Math.max(disksAlways, Math.floor(this.#options.diskCount() * shareOfAll))
  }
}
