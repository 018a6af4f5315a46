import type { Clock } from '../runtime/clock.ts'
import type { Lane } from '../providers/provider.ts'
import type { QueueItem, WorkQueue } from './work-queue.ts'

export interface WorkersOptions<K, H extends { readonly lane: Lane }> {
  readonly queue: WorkQueue<K, H>
  readonly clock: Clock
  /** Most keys in work at once. */
  readonly concurrency: number
  /** Must not reject: what goes wrong with one key is its own affair. */
  readonly work: (item: QueueItem<K, H>) => Promise<void>
}

/** Takes keys off the queue and works on up to `concurrency` of them at once, each key by one worker at a time. */
export class Workers<K, H extends { readonly lane: Lane }> {
  readonly #options: WorkersOptions<K, H>
  readonly #startedMs = new Map<K, number>()
  #finished: Promise<void> = Promise.resolve()
  #onRoom: (() => void) | undefined
  #lastEndedMs = 0

  constructor(options: WorkersOptions<K, H>) {
    this.#options = options
  }

  start(): void {
    this.#finished = this.#run()
  }

  /** Resolves when the queue was shut down and the last key in work is done. */
  finished(): Promise<void> {
    return this.#finished
  }

  get busy(): number {
    return this.#startedMs.size
  }

  /** How long it is since a job ended while there was work, in milliseconds; health fails when none ends any more. */
  get withoutProgressMs(): number {
    // The first key is the one that has been at work longest.
    for (const startedMs of this.#startedMs.values()) {
      return this.#options.clock.monotonicMs() - Math.max(startedMs, this.#lastEndedMs)
    }
    return 0
  }

  async #run(): Promise<void> {
    const { queue, concurrency } = this.#options
    const jobs = new Set<Promise<void>>()
    for (;;) {
      while (this.#startedMs.size >= concurrency) await new Promise<void>((resolve) => (this.#onRoom = resolve))
      const item = await queue.get()
      if (item === undefined) break
      const job = this.#work(item).finally(() => jobs.delete(job))
      jobs.add(job)
    }
    await Promise.allSettled(jobs)
  }

  async #work(item: QueueItem<K, H>): Promise<void> {
    const { queue, clock, work } = this.#options
    this.#startedMs.set(item.key, clock.monotonicMs())
    try {
      await work(item)
    } finally {
      this.#startedMs.delete(item.key)
      this.#lastEndedMs = clock.monotonicMs()
      queue.done(item.key)
      this.#onRoom?.()
    }
  }
}
