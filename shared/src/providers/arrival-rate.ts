/** Jobs that come closer together than this are a crowd, and another one is likely. */
const memoryMs = 150
/** Arrivals within the memory, older ones counting less, that make a crowd. One change at a time never does. */
const crowd = 4

/**
 * Tells a crowd from a single arrival. What is on its way is known only from the queue on; a burst of binds keeps coming
 * for seconds while hardly any of it is on the queue at any one moment.
 */
export class ArrivalRate {
  #weight = 0
  #atMs = 0

  arrived(nowMs: number): void {
    this.#weight = this.#weightAt(nowMs) + 1
    this.#atMs = nowMs
  }

  /** Milliseconds until, without a further arrival, this is no crowd any more; 0 where it is none now. */
  untilSparseMs(nowMs: number): number {
    const weight = this.#weightAt(nowMs)
    return weight <= crowd ? 0 : Math.ceil(memoryMs * Math.log(weight / crowd)) + 1
  }

  #weightAt(nowMs: number): number {
    return this.#weight * Math.exp(-(nowMs - this.#atMs) / memoryMs)
  }
}
