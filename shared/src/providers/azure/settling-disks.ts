import { pause, type Clock } from '../../runtime/clock.ts'

/**
 * Which disks were written a moment ago. Azure accepts a write to a disk before it carries it out, shows the old tags
 * meanwhile, and works out the next Merge or Delete from what it shows: a second write at once could undo the first, and
 * a read could see what is no longer true. So a disk is left alone for a few seconds after each write.
 */
export class SettlingDisks {
  readonly #clock: Clock
  readonly #quietMs: number
  /** In order of their times. */
  readonly #until = new Map<string, number>()
  readonly #stopping = new AbortController()

  constructor(options: { readonly clock: Clock; readonly quietMs: number }) {
    this.#clock = options.clock
    this.#quietMs = options.quietMs
  }

  /** This disk has, or may have, a write on its way. */
  written(disk: string): void {
    const nowMs = this.#clock.monotonicMs()
    this.#until.delete(disk)
    this.#until.set(disk, nowMs + this.#quietMs)
    for (const [other, untilMs] of this.#until) {
      if (untilMs > nowMs) break
      this.#until.delete(other)
    }
  }

  /** Resolves when the disk has had its rest, or when one of the signals aborts, or after `stop`. */
  async settled(disk: string, ...signals: readonly AbortSignal[]): Promise<void> {
    if (this.#leftMs(disk) <= 0) return
    const signal = AbortSignal.any([this.#stopping.signal, ...signals])
    while (!signal.aborted && this.#leftMs(disk) > 0) await pause(this.#clock, this.#leftMs(disk), signal)
  }

  /** Nobody waits from now on. */
  stop(): void {
    this.#stopping.abort()
  }

  #leftMs(disk: string): number {
    return (this.#until.get(disk) ?? 0) - this.#clock.monotonicMs()
  }
}
