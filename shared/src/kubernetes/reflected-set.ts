import type { Logger } from '../runtime/logger.ts'

/** What the reflector needs to know of a slim object. */
export interface Reflected {
  readonly uid: string
  readonly resourceVersion: string
}

/**
 * Told about every change, in order, synchronously; meant to put a key on a queue and nothing more. What a handler throws
 * is logged and goes no further.
 */
export interface ReflectorStore<T> {
  onAdd(object: T): void
  onUpdate(object: T, previous: T): void
  onDelete(object: T): void
  /** Once, after the first complete list. */
  onSynced(): void
}

/**
 * The objects as the server last showed them, by key (`namespace/name` or `name`), and the calls that tell the store
 * what became different. Objects are the same only if their uids are: one that was deleted and made again under its
 * name is reported as a deletion and an addition, in this order.
 */
export class ReflectedSet<T extends Reflected> {
  readonly #objects = new Map<string, T>()
  readonly #store: ReflectorStore<T>
  readonly #logger: Logger
  /** Keys that the list in progress has not shown yet; undefined between lists. */
  #unseen: Set<string> | undefined

  constructor(store: ReflectorStore<T>, logger: Logger) {
    this.#store = store
    this.#logger = logger
  }

  get size(): number {
    return this.#objects.size
  }

  beginList(): void {
    this.#unseen = new Set(this.#objects.keys())
  }

  /** Deletes what the list did not show. */
  endList(): void {
    for (const key of this.#unseen ?? []) {
      const object = this.#objects.get(key)
      if (object !== undefined) this.#delete(key, object)
    }
    this.#unseen = undefined
  }

  put(key: string, object: T): void {
    this.#unseen?.delete(key)
    const previous = this.#objects.get(key)
    if (previous !== undefined && previous.uid !== object.uid) this.#delete(key, previous)
    else if (previous?.resourceVersion === object.resourceVersion) return

    this.#objects.set(key, object)
    if (previous?.uid === object.uid) this.#tell(() => this.#store.onUpdate(object, previous))
    else this.#tell(() => this.#store.onAdd(object))
  }

  /** The server has this one in a form that we cannot read: what we knew of it stays. */
  keep(key: string): void {
    this.#unseen?.delete(key)
  }

  remove(key: string, uid: string | undefined): void {
    const object = this.#objects.get(key)
    if (object !== undefined && (uid === undefined || object.uid === uid)) this.#delete(key, object)
  }

  synced(): void {
    this.#tell(() => this.#store.onSynced())
  }

  #delete(key: string, object: T): void {
    this.#objects.delete(key)
    this.#tell(() => this.#store.onDelete(object))
  }

  #tell(handler: () => void): void {
    try {
      handler()
    } catch (error) {
      this.#logger.error({ err: error }, 'a handler of watched objects failed')
    }
  }
}
