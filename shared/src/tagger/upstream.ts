import type { Lane } from '../providers/provider.ts'

/**
 * Counts the jobs that are on their way to a cloud call and have not reached it, so that a batch knows whether waiting
 * for company is worth its while. By lane: a fresh change does not wait for ten thousand bulk ones.
 */
export class Upstream {
  readonly #unstarted: (lane: Lane) => number
  readonly #onArrival: () => void
  readonly #beforeRead: Record<Lane, number> = { fresh: 0, bulk: 0 }
  readonly #beforeWrite: Record<Lane, number> = { fresh: 0, bulk: 0 }

  constructor(options: {
    /** Keys that are ready on the queue and have no worker yet. */
    readonly unstarted: (lane: Lane) => number
    /** Called when fewer are to come than before: a waiting batch may look again. */
    readonly onArrival: () => void
  }) {
    this.#unstarted = options.unstarted
    this.#onArrival = options.onArrival
  }

  /** Jobs that may still ask for a read. */
  readsToCome(lane: Lane): number {
    return this.#unstarted(lane) + this.#beforeRead[lane]
  }

  /** Jobs that may still ask for a write, those that are reading included. */
  writesToCome(lane: Lane): number {
    return this.#unstarted(lane) + this.#beforeWrite[lane]
  }

  start(lane: Lane): UpstreamJob {
    const leaveReads = this.#enter(this.#beforeRead, lane)
    const leaveWrites = this.#enter(this.#beforeWrite, lane)
    const leaveBoth = () => {
      leaveReads()
      leaveWrites()
    }
    return { reachedRead: leaveReads, reachedWrite: leaveBoth, ended: leaveBoth }
  }

  #enter(counts: Record<Lane, number>, lane: Lane): () => void {
    counts[lane]++
    let counted = true
    return () => {
      if (!counted) return
      counted = false
      counts[lane]--
      this.#onArrival()
    }
  }
}

/** One job's way. Each step may be told more than once. */
export interface UpstreamJob {
  reachedRead(): void
  reachedWrite(): void
  ended(): void
}
