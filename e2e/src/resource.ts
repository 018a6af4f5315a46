import { setTimeout as sleep } from 'node:timers/promises'
import { KubeStatusError, type CallOptions, type KubeClient, type WatchEvent } from './kube-client.ts'
import type { KubeObject, Stored } from './kube-objects.ts'

/** How a resource's objects are addressed, such as `/api/v1` and `persistentvolumeclaims`. */
export interface ResourceKind {
  readonly root: string
  readonly plural: string
  readonly namespaced: boolean
}

export interface ObjectRef {
  readonly namespace?: string | undefined
  readonly name: string
}

export interface WriteOptions {
  readonly dryRun?: boolean
  readonly onWarning?: (warning: string) => void
  /** `status`, `finalize`, `token` ... */
  readonly subresource?: string
}

export interface WaitOptions {
  /** Default 30,000. */
  readonly timeoutMs?: number
}

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'test' | 'copy' | 'move'
  readonly path: string
  readonly value?: unknown
  readonly from?: string
}

const defaultTimeoutMs = 30_000
const retryMs = 100

interface FollowOptions extends WaitOptions {
  readonly namespace: string | undefined
  readonly query: NonNullable<CallOptions['query']>
}

interface ObjectList<T extends KubeObject> {
  readonly items: readonly Stored<T>[]
  readonly metadata: { readonly resourceVersion: string }
}

/** One kind of object. References may be whole objects: `claims.get(claim)`. */
export class Resource<T extends KubeObject> {
  readonly #client: KubeClient
  readonly #kind: ResourceKind

  constructor(client: KubeClient, kind: ResourceKind) {
    this.#client = client
    this.#kind = kind
  }

  async create(object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    const path = this.#collection(object.metadata.namespace)
    return this.#client.call('POST', path, { ...writing(options), body: object })
  }

  /** Rejects with KubeStatusError 404 where there is none; see `find`. */
  async get(ref: ObjectRef | T): Promise<Stored<T>> {
    return this.#client.call('GET', this.#path(ref))
  }

  async find(ref: ObjectRef | T): Promise<Stored<T> | undefined> {
    try {
      return await this.get(ref)
    } catch (error) {
      if (error instanceof KubeStatusError && error.status === 404) return undefined
      throw error
    }
  }

  /** Of one namespace, or of all. */
  async list(namespace?: string, query: CallOptions['query'] = {}): Promise<readonly Stored<T>[]> {
    const { items } = await this.#client.call<ObjectList<T>>('GET', this.#collection(namespace), { query })
    return items
  }

  async replace(object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    return this.#client.call('PUT', this.#path(object, options), { ...writing(options), body: object })
  }

  /** A merge patch: null takes a field away. */
  async patch(ref: ObjectRef | T, change: object, options: WriteOptions = {}): Promise<Stored<T>> {
    return this.#client.call('PATCH', this.#path(ref, options), {
      ...writing(options),
      body: change,
      contentType: 'application/merge-patch+json',
    })
  }

  async jsonPatch(
    ref: ObjectRef | T,
    operations: readonly JsonPatchOperation[],
    options: WriteOptions = {},
  ): Promise<Stored<T>> {
    return this.#client.call('PATCH', this.#path(ref, options), {
      ...writing(options),
      body: operations,
      contentType: 'application/json-patch+json',
    })
  }

  /** Server-side apply under the field manager `e2e`, taking over fields of others. */
  async apply(object: T): Promise<Stored<T>> {
    return this.#client.call('PATCH', this.#path(object), {
      query: { fieldManager: 'e2e', force: true },
      body: object,
      contentType: 'application/apply-patch+yaml',
    })
  }

  /** null takes a label away. */
  async label(ref: ObjectRef | T, labels: Readonly<Record<string, string | null>>): Promise<Stored<T>> {
    return this.patch(ref, { metadata: { labels } })
  }

  /** null takes an annotation away. */
  async annotate(ref: ObjectRef | T, annotations: Readonly<Record<string, string | null>>): Promise<Stored<T>> {
    return this.patch(ref, { metadata: { annotations } })
  }

  /** Deleting what is gone is no error. Does not wait for finalizers; see `waitUntilGone`. */
  async delete(ref: ObjectRef | T, options: Pick<WriteOptions, 'dryRun'> = {}): Promise<void> {
    try {
      await this.#client.call('DELETE', this.#path(ref), writing(options))
    } catch (error) {
      if (!(error instanceof KubeStatusError && error.status === 404)) throw error
    }
  }

  /** Only ever of one namespace: the cluster may be somebody's own. */
  async deleteAll(namespace: string): Promise<void> {
    await this.#client.call('DELETE', this.#collection(namespace))
  }

  /** Changes from `resourceVersion` on; without it, first everything there is as ADDED. Ends with the server's own end. */
  watch(namespace: string | undefined, options: CallOptions = {}): AsyncGenerator<WatchEvent<T>> {
    return this.#client.watch(this.#collection(namespace), options)
  }

  /** Resolves as soon as the object is as wished; `wish` completes the sentence "waited for … to" in the error. */
  async waitFor(
    ref: ObjectRef | T,
    wish: string,
    holds: (object: Stored<T>) => boolean,
    options: WaitOptions = {},
  ): Promise<Stored<T>> {
    const { namespace, name } = reference(ref)
    let last: Stored<T> | undefined
    const query = { fieldSelector: `metadata.name=${name}` }
    const found = await this.#follow({ namespace, query, ...options }, (event) => {
      last = event?.object ?? last
      return event !== undefined && event.type !== 'DELETED' && holds(event.object) ? event.object : undefined
    })
    if (found !== undefined) return found
    const seen = last === undefined ? 'it was never seen' : `it was last ${JSON.stringify(withoutNoise(last))}`
    throw new Error(`Waited in vain for ${this.#kind.plural} ${name} to ${wish}: ${seen}`)
  }

  async waitUntilGone(ref: ObjectRef | T, options: WaitOptions = {}): Promise<void> {
    const { namespace, name } = reference(ref)
    const query = { fieldSelector: `metadata.name=${name}` }
    const gone = await this.#follow({ namespace, query, ...options }, (event) =>
      event === undefined || event.type === 'DELETED' ? true : undefined,
    )
    if (gone === undefined) throw new Error(`Waited in vain for ${this.#kind.plural} ${name} to be gone`)
  }

  /** Resolves when `count` objects hold at some time each; an object counts once. Resolves to their names. */
  async waitForCount(
    { namespace, count, labelSelector }: { namespace?: string; count: number; labelSelector?: string },
    wish: string,
    holds: (object: Stored<T>) => boolean,
    options: WaitOptions = {},
  ): Promise<ReadonlySet<string>> {
    const names = new Set<string>()
    const done = await this.#follow({ namespace, query: { labelSelector }, ...options }, (event) => {
      if (event !== undefined && event.type !== 'DELETED' && holds(event.object)) {
        names.add(`${event.object.metadata.namespace ?? ''}/${event.object.metadata.name}`)
      }
      return names.size >= count ? true : undefined
    })
    if (done === undefined) {
      throw new Error(`Waited in vain for ${count} ${this.#kind.plural} to ${wish}: only ${names.size} did`)
    }
    return names
  }

  /** The first result of `step` that is not undefined; undefined when the time is over. */
  async #follow<R>(
    { namespace, query, timeoutMs = defaultTimeoutMs }: FollowOptions,
    step: (event: WatchEvent<T> | undefined) => R | undefined,
  ): Promise<R | undefined> {
    const signal = AbortSignal.timeout(timeoutMs)
    while (!signal.aborted) {
      try {
        for await (const event of this.#listAndWatch(this.#collection(namespace), query, signal)) {
          const result = step(event)
          if (result !== undefined) return result
        }
      } catch (error) {
        if (!isPassing(error)) throw error
        await sleep(retryMs)
      }
    }
    return undefined
  }

  /** What there is as ADDED, or one undefined where there is nothing; then the changes, until the watch ends. */
  async *#listAndWatch(
    path: string,
    query: FollowOptions['query'],
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T> | undefined> {
    const { items, metadata } = await this.#client.call<ObjectList<T>>('GET', path, { query })
    if (items.length === 0) yield undefined
    for (const object of items) yield { type: 'ADDED', object }
    yield* this.#client.watch<T>(path, { query: { ...query, resourceVersion: metadata.resourceVersion }, signal })
  }

  #collection(namespace: string | undefined): string {
    const { root, plural, namespaced } = this.#kind
    return namespaced && namespace !== undefined ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`
  }

  #path(ref: ObjectRef | T, { subresource }: WriteOptions = {}): string {
    const { namespace, name } = reference(ref)
    return `${this.#collection(namespace)}/${name}${subresource === undefined ? '' : `/${subresource}`}`
  }
}

function reference(ref: ObjectRef | KubeObject): ObjectRef {
  return 'metadata' in ref ? ref.metadata : ref
}

function writing({ dryRun, onWarning }: WriteOptions): CallOptions {
  return {
    ...(dryRun === true && { query: { dryRun: 'All' } }),
    ...(onWarning !== undefined && { onWarning }),
  }
}

/** An API server that is away, overloaded or has forgotten a version: worth another try until the time is over. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof KubeStatusError)) return true
  return error.status === 410 || error.status === 429 || error.status >= 500
}

function withoutNoise(object: KubeObject): object {
  const { managedFields: _, ...metadata } = object.metadata as unknown as Record<string, unknown>
  return { ...object, metadata }
}
