import { tooOldResourceVersion } from './api-status.ts'
import { keyOf, type KubeObject } from './objects.ts'

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** The counter's value after this write. */
  readonly version: number
  /** For a deletion the last state, under the version of the deletion. */
  readonly object: KubeObject
  readonly previous: KubeObject | undefined
}

export type StoreListener = (event: StoreEvent) => void

/** One number for all resources, as etcd has one revision. */
export class VersionCounter {
  current = 1

  next(): number {
    return ++this.current
  }
}

/**
 * The objects of one resource in list order, and the last writes for those who watch. Invariants: `#keys` is sorted and
 * holds exactly the keys of `#objects`; `#history` is ordered by version and complete after `#compactedVersion`.
 */
export class ObjectStore {
  readonly #counter: VersionCounter
  readonly #historySize: number
  readonly #objects = new Map<string, KubeObject>()
  readonly #keys: string[] = []
  readonly #history: StoreEvent[] = []
  readonly #listeners = new Set<StoreListener>()
  #compactedVersion = 0

  constructor(counter: VersionCounter, historySize: number) {
    this.#counter = counter
    this.#historySize = historySize
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key)
  }

  /** In list order; of one namespace where it is given. */
  list(namespace?: string): KubeObject[] {
    const keys = namespace === undefined ? this.#keys : this.#keysBelow(`${namespace}/`)
    return keys.map((key) => this.#objects.get(key)).filter((object) => object !== undefined)
  }

  /** Stores the object under a new version, which it returns with it. */
  put(object: KubeObject): KubeObject {
    const key = keyOf(object)
    const previous = this.#objects.get(key)
    const version = this.#counter.next()
    const stored = withVersion(object, version)
    this.#objects.set(key, stored)
    if (previous === undefined) this.#keys.splice(this.#position(key), 0, key)
    this.#publish({ type: previous === undefined ? 'ADDED' : 'MODIFIED', version, object: stored, previous })
    return stored
  }

  delete(key: string, last: KubeObject): KubeObject {
    const previous = this.#objects.get(key)
    const version = this.#counter.next()
    const gone = withVersion(last, version)
    if (this.#objects.delete(key)) this.#keys.splice(this.#position(key), 1)
    this.#publish({ type: 'DELETED', version, object: gone, previous })
    return gone
  }

  /** The writes after `version`. Throws 410 when some of them are forgotten. */
  since(version: number): StoreEvent[] {
    if (version < this.#compactedVersion) throw tooOldResourceVersion(version, this.#compactedVersion)
    let first = this.#history.length
    while (first > 0 && (this.#history[first - 1]?.version ?? 0) > version) first--
    return this.#history.slice(first)
  }

  /** Forgets the history, so that every watch from an older version gets 410. */
  compact(): void {
    this.#history.length = 0
    this.#compactedVersion = this.#counter.current
  }

  subscribe(listener: StoreListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #publish(event: StoreEvent): void {
    this.#history.push(event)
    // Trimmed by halves: cutting one entry a write would move the whole array each time.
    if (this.#history.length > 2 * this.#historySize) {
      const dropped = this.#history.splice(0, this.#history.length - this.#historySize)
      this.#compactedVersion = dropped.at(-1)?.version ?? this.#compactedVersion
    }
    for (const listener of this.#listeners) listener(event)
  }

  #keysBelow(prefix: string): string[] {
    const from = this.#position(prefix)
    let to = from
    while (this.#keys[to]?.startsWith(prefix) === true) to++
    return this.#keys.slice(from, to)
  }

  /** Where the key is, or where it would go. */
  #position(key: string): number {
    let low = 0
    let high = this.#keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#keys[middle] ?? '') < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

function withVersion(object: KubeObject, version: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }
}
