import type { TagChanges } from '../../plan/tag-changes.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import type { QueuedJob } from '../batch-queue.ts'
import { notSent } from '../batch-queue.ts'
import type { CallNeeds } from '../account-budget.ts'
import type { Preparable } from '../preparations.ts'
import type { Lane, ObservedTags, WriteOptions } from '../provider.ts'
import { ProviderError } from '../provider-error.ts'
import { readOperation, writeOperation } from './arm-ports.ts'
import { TagsByName } from './tag-names.ts'

export interface DiskWriteInit {
  readonly disk: string
  readonly changes: TagChanges
  readonly observed: ObservedTags | undefined
  readonly options: WriteOptions
  readonly arrivedAtMs: number
}

/** Older than this, what was observed says too little about what may be deleted. */
const observedForMs = 30_000

/** One disk's write, from its arrival to its end. */
export class DiskWrite implements QueuedJob, Preparable {
  readonly disk: string
  readonly lane: Lane
  readonly signal: AbortSignal
  readonly arrivedAtMs: number
  readonly beforeSend: (() => Promise<number>) | undefined
  readonly group = ''
  readonly done: Promise<void>
  readonly set: TagSet
  /** The values under which a tag may be deleted, by its name. No name is also in `set`. */
  readonly remove: ReadonlyMap<string, readonly string[]>
  /** It tries although writes are slow. */
  probes = false
  queuedAtMs = 0
  deadlineMs: number | undefined
  readonly #observed: TagSet | undefined
  readonly #end: PromiseWithResolvers<void> = Promise.withResolvers()
  #ended = false
  #mayHaveChanged = false

  constructor({ disk, changes, observed, options, arrivedAtMs }: DiskWriteInit) {
    this.disk = disk
    this.lane = options.lane
    this.signal = options.signal
    this.arrivedAtMs = arrivedAtMs
    this.beforeSend = options.beforeSend
    this.done = this.#end.promise
    this.set = new TagsByName(changes.set)
    // A label whose key changed its case only: to Azure its tag is overwritten, and nothing is to go.
    this.remove = new Map([...changes.remove].filter(([name, values]) => !this.set.has(name) && values.length > 0))
    this.#observed = observed && new TagsByName(observed.tags)
  }

  get isEmpty(): boolean {
    return this.set.size === 0 && this.remove.size === 0
  }

  get ended(): boolean {
    return this.#ended
  }

  /** What has to be read first draws on another bucket. */
  get kind(): string {
    return this.remove.size > 0 && this.#observed === undefined ? 'read and write' : 'write'
  }

  needsAt(monotonicMs: number): CallNeeds {
    const needs = new Map([[writeOperation as string, Number(this.set.size > 0) + Number(this.remove.size > 0)]])
    if (this.remove.size > 0 && this.observedAt(monotonicMs) === undefined) needs.set(readOperation, 1)
    return needs
  }

  /** What the caller saw, as long as it is young enough to rest a deletion on it. */
  observedAt(monotonicMs: number): TagSet | undefined {
    return monotonicMs - this.arrivedAtMs <= observedForMs ? this.#observed : undefined
  }

  /** Why no call may be sent for it any more, at this moment. */
  refusalAt(monotonicMs: number): ProviderError | undefined {
    if (this.signal.aborted) return notSent('the caller gave it up')
    if (monotonicMs > (this.deadlineMs ?? Number.POSITIVE_INFINITY)) return notSent('its time to be sent has passed')
    return undefined
  }

  /** One of its calls has taken effect. */
  changed(): void {
    this.#mayHaveChanged = true
  }

  succeed(): void {
    if (this.#ended) return
    this.#ended = true
    this.#end.resolve()
  }

  fail(error: ProviderError): void {
    this.failWith(this.#mayHaveChanged && !error.outcomeUnknown ? withOutcomeUnknown(error) : error)
  }

  /** Ends it with the caller's own reason, as it is. */
  failWith(reason: unknown): void {
    if (this.#ended) return
    this.#ended = true
    this.#end.reject(reason)
  }
}

function withOutcomeUnknown({ cause, code, kind, message, retryAfterMs }: ProviderError): ProviderError {
  return new ProviderError(kind, message, {
    cause,
    ...(code !== undefined && { code }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    outcomeUnknown: true,
  })
}
