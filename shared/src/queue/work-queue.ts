import type { Clock, Timer } from '../runtime/clock.ts'
import type { Lane } from '../providers/provider.ts'

export interface QueueItem<K, H> {
  readonly key: K
  readonly hints: H
  /** How long it was ready before it was taken, in milliseconds. */
  readonly waitedMs: number
}

export interface WorkQueueOptions<H extends { readonly lane: Lane }> {
  readonly clock: Clock
  readonly merge: (earlier: H, later: H) => H
  /** Keys that may wait, delayed ones included. A key that waits already is merged and needs no room. */
  readonly capacity?: number
}

/** Of this many items taken while both lanes wait, one comes from the bulk lane, so that fresh work cannot starve it. */
const bulkShare = 16

/**
 * client-go's work queue with hints. Its promises:
 *
 * - *fair*: within a lane, keys are handed out in the order in which they came; the fresh lane goes first.
 * - *stingy*: a key is never worked on twice at once; added ten times while it waits, it is worked on once, with the
 *   hints merged; added while it is worked on, it is worked on again.
 * - *many producers and consumers*.
 * - *told about shutdown*: `get` answers undefined once the queue is shut down, and leaves what waits.
 *
 * A worker's duties: always `done`, and `forget` on the rate limiter when the key did well.
 */
export class WorkQueue<K, H extends { readonly lane: Lane }> {
  readonly #clock: Clock
  readonly #merge: (earlier: H, later: H) => H
  readonly #capacity: number

  /** Keys that need work, with their merged hints: those in `#ready`, and those added again while in `#processing`. */
  readonly #dirty = new Map<K, { hints: H; readonly sinceMs: number }>()
  /** What may be handed out, by lane, oldest first: exactly the dirty keys that are not in `#processing`. */
  readonly #ready: Readonly<Record<Lane, Set<K>>> = { fresh: new Set(), bulk: new Set() }
  /** Keys that a worker holds. */
  readonly #processing = new Set<K>()
  /** Keys that become dirty at a later time. A key may be both here and dirty. */
  readonly #waiting = new Map<K, { hints: H; readyAtMs: number; timer: Timer }>()
  readonly #takers: ((item: QueueItem<K, H> | undefined) => void)[] = []
  #shutDown = false
  #takenFresh = 0

  constructor(options: WorkQueueOptions<H>) {
    this.#clock = options.clock
    this.#merge = options.merge
    this.#capacity = options.capacity ?? Number.POSITIVE_INFINITY
  }

  /** Answers false where the queue is full or shut down: the key was not taken in. */
  add(key: K, hints: H): boolean {
    if (this.#shutDown || !this.#hasRoomFor(key)) return false
    const waiting = this.#dirty.get(key)
    if (waiting !== undefined) {
      const earlierLane = waiting.hints.lane
      waiting.hints = this.#merge(waiting.hints, hints)
      if (waiting.hints.lane !== earlierLane && this.#ready[earlierLane].delete(key)) {
        this.#ready[waiting.hints.lane].add(key)
      }
      return true
    }
    this.#dirty.set(key, { hints, sinceMs: this.#clock.monotonicMs() })
    if (!this.#processing.has(key)) {
      this.#ready[hints.lane].add(key)
      this.#handOut()
    }
    return true
  }

  /** Of two delays for one key the earlier wins; the hints are merged. */
  addAfter(key: K, hints: H, delayMs: number): boolean {
    if (delayMs <= 0) return this.add(key, hints)
    if (this.#shutDown || !this.#hasRoomFor(key)) return false
    const readyAtMs = this.#clock.monotonicMs() + delayMs
    const earlier = this.#waiting.get(key)
    if (earlier !== undefined) {
      earlier.hints = this.#merge(earlier.hints, hints)
      if (earlier.readyAtMs <= readyAtMs) return true
      earlier.timer.cancel()
      earlier.readyAtMs = readyAtMs
      earlier.timer = this.#timer(key, delayMs)
      return true
    }
    this.#waiting.set(key, { hints, readyAtMs, timer: this.#timer(key, delayMs) })
    return true
  }

  /** Waits for the next key; undefined once the queue is shut down. */
  get(): Promise<QueueItem<K, H> | undefined> {
    if (this.#shutDown) return Promise.resolve(undefined)
    const item = this.#take()
    if (item !== undefined) return Promise.resolve(item)
    return new Promise((resolve) => this.#takers.push(resolve))
  }

  done(key: K): void {
    this.#processing.delete(key)
    const again = this.#dirty.get(key)
    if (again === undefined || this.#shutDown) return
    this.#ready[again.hints.lane].add(key)
    this.#handOut()
  }

  /** Takers are told, timers are cancelled, nothing more is taken in. Keys in work end with their own `done`. */
  shutDown(): void {
    this.#shutDown = true
    for (const { timer } of this.#waiting.values()) timer.cancel()
    for (const taker of this.#takers.splice(0)) taker(undefined)
  }

  /** Whether this key is here already, waiting or in work. */
  has(key: K): boolean {
    return this.#dirty.has(key) || this.#waiting.has(key) || this.#processing.has(key)
  }

  /** Keys that could be worked on now. */
  get readyCount(): number {
    return this.readyIn('fresh') + this.readyIn('bulk')
  }

  readyIn(lane: Lane): number {
    return this.#ready[lane].size
  }

  get waitingCount(): number {
    return this.#waiting.size
  }

  get processingCount(): number {
    return this.#processing.size
  }

  /** How long the oldest ready key has waited, in milliseconds; 0 where none does. */
  get oldestReadyMs(): number {
    let oldestMs = 0
    for (const lane of Object.values(this.#ready)) {
      for (const key of lane) {
        oldestMs = Math.max(oldestMs, this.#clock.monotonicMs() - (this.#dirty.get(key)?.sinceMs ?? 0))
        break
      }
    }
    return oldestMs
  }

  #hasRoomFor(key: K): boolean {
    if (this.#dirty.has(key) || this.#waiting.has(key)) return true
    return this.#dirty.size + this.#waiting.size < this.#capacity
  }

  #timer(key: K, delayMs: number): Timer {
    return this.#clock.setTimer(delayMs, () => {
      const waiting = this.#waiting.get(key)
      if (waiting === undefined) return
      // It keeps its place: what waited its time is not turned away by a full queue.
      this.#waiting.delete(key)
      this.add(key, waiting.hints)
    })
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const item = this.#take()
      if (item === undefined) return
      this.#takers.shift()?.(item)
    }
  }

  #take(): QueueItem<K, H> | undefined {
    const key = this.#nextKey()
    if (key === undefined) return undefined
    const entry = this.#dirty.get(key)
    if (entry === undefined) throw new Error(`a ready key must be dirty: ${String(key)}`)
    this.#dirty.delete(key)
    this.#processing.add(key)
    return { key, hints: entry.hints, waitedMs: this.#clock.monotonicMs() - entry.sinceMs }
  }

  #nextKey(): K | undefined {
    const { fresh, bulk } = this.#ready
    const bulkTurn = this.#takenFresh >= bulkShare - 1 && bulk.size > 0
    const lane = (fresh.size > 0 && !bulkTurn) || bulk.size === 0 ? fresh : bulk
    this.#takenFresh = lane === fresh ? this.#takenFresh + 1 : 0
    for (const key of lane) {
      lane.delete(key)
      return key
    }
    return undefined
  }
}
