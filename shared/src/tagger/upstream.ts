/**
 * Counts the jobs that are on their way to a cloud call and have not reached it, so that a batch knows whether waiting
 * for company is worth its while.
 */
export class Upstream {
  readonly #unstarted: () => number
  readonly #onArrival: () => void
  #beforeRead = 0
  #beforeWrite = 0

  constructor(options: {
    /** Keys that are ready on the queue and have no worker yet. */
    readonly unstarted: () => number
    /** Called when fewer are to come than before: a waiting batch may look again. */
    readonly onArrival: () => void
  }) {
    this.#unstarted = options.unstarted
    this.#onArrival = options.onArrival
  }

  /** Jobs that may still ask for a read. */
  get readsToCome(): number {
    return this.#unstarted() + this.#beforeRead
  }

  /** Jobs that may still ask for a write, those that are reading included. */
  get writesToCome(): number {
    return this.#unstarted() + this.#beforeWrite
  }

  start(): UpstreamJob {
    this.#beforeRead++
    this.#beforeWrite++
    let readCounted = true
    let writeCounted = true
    const reachedRead = () => {
      if (!readCounted) return
      readCounted = false
      this.#beforeRead--
      this.#onArrival()
    }
    const reachedWrite = () => {
      reachedRead()
      if (!writeCounted) return
      writeCounted = false
      this.#beforeWrite--
      this.#onArrival()
    }
    return { reachedRead, reachedWrite, ended: reachedWrite }
  }
}

/** One job's way. Each step may be told more than once. */
export interface UpstreamJob {
  reachedRead(): void
  reachedWrite(): void
  ended(): void
}
