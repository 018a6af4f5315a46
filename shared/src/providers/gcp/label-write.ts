import { gcpDiskId, type GcpDiskName } from '../../claims/gcp-disk.ts'
import type { TagChanges } from '../../plan/tag-changes.ts'
import { sameTags, type TagSet } from '../../tags/tag-set.ts'
import { notSent, type QueuedJob } from '../batch-queue.ts'
import type { Preparable } from '../preparations.ts'
import type { Lane, ObservedTags, WriteOptions } from '../provider.ts'
import { ProviderError } from '../provider-error.ts'
import type { LabelSet } from './compute-api.ts'

export interface LabelWriteInit {
  readonly disk: GcpDiskName
  readonly changes: TagChanges
  readonly observed: ObservedTags
  readonly options: WriteOptions
  readonly arrivedAtMs: number
}

/** One disk's write, from its arrival to its end. */
export class LabelWrite implements QueuedJob, Preparable {
  readonly disk: GcpDiskName
  readonly lane: Lane
  readonly signal: AbortSignal
  readonly arrivedAtMs: number
  readonly beforeSend: (() => Promise<number>) | undefined
  readonly kind = ''
  readonly group = ''
  readonly done: Promise<void>
  /** It tries although writes are slow. */
  probes = false
  queuedAtMs = 0
  deadlineMs: number | undefined
  readonly #observed: ObservedTags
  readonly #labels: TagSet
  readonly #end: PromiseWithResolvers<void> = Promise.withResolvers()
  #ended = false

  constructor({ arrivedAtMs, changes, disk, observed, options }: LabelWriteInit) {
    this.disk = disk
    this.lane = options.lane
    this.signal = options.signal
    this.arrivedAtMs = arrivedAtMs
    this.beforeSend = options.beforeSend
    this.done = this.#end.promise
    this.#observed = observed
    this.#labels = changed(observed.tags, changes)
  }

  /** What was observed is what is wished. */
  get isEmpty(): boolean {
    return sameTags(this.#labels, this.#observed.tags)
  }

  get ended(): boolean {
    return this.#ended
  }

  /** The whole map, since Google replaces it. Throws 'conflict' where nothing says which one it replaces. */
  get labelSet(): LabelSet {
    const { etag } = this.#observed
    if (etag === undefined) throw unread(this.disk)
    return { labels: this.#labels, fingerprint: etag }
  }

  /** Why no call may be sent for it any more, at this moment. */
  refusalAt(monotonicMs: number): ProviderError | undefined {
    if (this.signal.aborted) return notSent('the caller gave it up')
    if (monotonicMs > (this.deadlineMs ?? Number.POSITIVE_INFINITY)) return notSent('its time to be sent has passed')
    return undefined
  }

  succeed(): void {
    if (this.#ended) return
    this.#ended = true
    this.#end.resolve()
  }

  fail(error: ProviderError): void {
    this.failWith(error)
  }

  /** Ends it with the caller's own reason, as it is. */
  failWith(reason: unknown): void {
    if (this.#ended) return
    this.#ended = true
    this.#end.reject(reason)
  }
}

/** Google needs to be told what a write replaces. The caller reads, and comes again. */
export function unread(disk: GcpDiskName): ProviderError {
  return new ProviderError('conflict', `${gcpDiskId(disk)} was to be written without having been read`)
}

function changed(tags: TagSet, { remove, set }: TagChanges): TagSet {
  const result = new Map(tags)
  for (const [key, values] of remove) {
    const value = result.get(key)
    if (value !== undefined && values.includes(value)) result.delete(key)
  }
  for (const [key, value] of set) result.set(key, value)
  return result
}
