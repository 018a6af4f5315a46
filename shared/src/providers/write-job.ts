import type { TagChanges } from '../plan/tag-changes.ts'
import type { QueuedJob } from './batch-queue.ts'
import { notSent } from './batch-queue.ts'
import type { Lane, WriteOptions } from './provider.ts'
import type { ProviderErrorKind } from './provider-error.ts'
import { ProviderError } from './provider-error.ts'
import type { Operation, Pair, Write } from './write-grouping.ts'
import { nameOfAll, namedPairs, operations } from './write-grouping.ts'

export interface WriteJobInit {
  readonly disk: string
  readonly changes: TagChanges
  readonly options: WriteOptions
  readonly arrivedAtMs: number
}

/**
 * One disk's write, from its arrival to its end. It may need several calls; it ends once, when the last of them has, and
 * its error then says whether any of them may have changed the disk.
 */
export class WriteJob implements QueuedJob {
  readonly disk: string
  readonly lane: Lane
  readonly signal: AbortSignal
  readonly arrivedAtMs: number
  readonly beforeSend: (() => Promise<number>) | undefined
  readonly done: Promise<void>
  queuedAtMs = 0
  deadlineMs: number | undefined
  /** The operations that it tries although they are slow. */
  readonly probes = new Set<Operation>()
  readonly #end: PromiseWithResolvers<void> = Promise.withResolvers()
  #write: Write
  #alone = false
  #callsOpen = 0
  #mayHaveChanged = false
  #removed = false
  #error: ProviderError | undefined
  #ended = false

  constructor({ disk, changes, options, arrivedAtMs }: WriteJobInit) {
    this.disk = disk
    this.lane = options.lane
    this.signal = options.signal
    this.arrivedAtMs = arrivedAtMs
    this.beforeSend = options.beforeSend
    this.done = this.#end.promise
    this.#write = writeOf(changes)
  }

  /** What is still to be written. */
  get write(): Write {
    return this.#write
  }

  get kind(): string {
    return operations.filter((operation) => this.needs(operation)).join('+')
  }

  get group(): string {
    const name = `${nameOfAll(this.#write.set)}\0\0\0${nameOfAll(this.#write.remove)}`
    return this.#alone ? `${name}\0\0\0${this.disk}` : name
  }

  get alone(): boolean {
    return this.#alone
  }

  get ended(): boolean {
    return this.#ended
  }

  needs(operation: Operation): boolean {
    return this.#write[operation].size > 0
  }

  /** Shares no call with other disks. Only before it waits in a queue, as with `leaveOut`: its group changes. */
  travelAlone(): void {
    this.#alone = true
  }

  /** Gives up one operation, for this reason; ends where nothing is left to do. */
  leaveOut(operation: Operation, reason: ProviderError): void {
    this.#note(reason)
    this.#write = { ...this.#write, [operation]: new Map() }
    if (this.kind === '') this.end()
  }

  /** Why no call may be sent for it any more, at this moment. */
  refusalAt(monotonicMs: number): ProviderError | undefined {
    if (this.#error?.kind === 'not-found') return this.#error
    if (this.signal.aborted) return notSent('the caller gave it up')
    if (monotonicMs > (this.deadlineMs ?? Number.POSITIVE_INFINITY)) return notSent('its time to be sent has passed')
    return undefined
  }

  callBegins(): void {
    this.#callsOpen += 1
  }

  /** One of its calls has ended. True where that was the last one under way. */
  callEnded(operation: Operation, error: ProviderError | undefined): boolean {
    this.#callsOpen -= 1
    if (error === undefined) {
      this.#mayHaveChanged = true
      this.#removed ||= operation === 'remove'
    } else {
      this.#note(error)
    }
    return this.#callsOpen === 0
  }

  /**
   * A full disk refuses new tags even where our own removal, sent at the same time, has just made room. True, once,
   * where setting them again may succeed; then only that is left to do.
   */
  retriesSet(): boolean {
    if (this.#error?.kind !== 'invalid' || !this.#removed || !this.needs('set')) return false
    this.#error = undefined
    this.#removed = false
    this.#write = { ...this.#write, remove: new Map() }
    this.#alone = true
    return true
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    if (this.#error === undefined) this.#end.resolve()
    else this.#end.reject(withOutcome(this.#error, this.#mayHaveChanged))
  }

  fail(error: ProviderError): void {
    this.#note(error)
    this.end()
  }

  /** Ends it with the caller's own reason, as it is. */
  failWith(reason: unknown): void {
    if (this.#ended) return
    this.#ended = true
    this.#end.reject(reason)
  }

  #note(error: ProviderError): void {
    this.#mayHaveChanged ||= error.outcomeUnknown
    if (this.#error === undefined || severity[error.kind] > severity[this.#error.kind]) this.#error = error
  }
}

/** Which of two errors of one write decides what happens next: a gone disk first, then what is to be tried again. */
const severity: Readonly<Record<ProviderErrorKind, number>> = {
  'not-found': 5,
  throttled: 4,
  unavailable: 3,
  conflict: 2,
  denied: 1,
  invalid: 0,
}

function writeOf({ set, remove }: TagChanges): Write {
  const removals = [...remove].flatMap(([key, values]) => values.map((value): Pair => [key, value]))
  return { set: namedPairs([...set]), remove: namedPairs(removals) }
}

function withOutcome(error: ProviderError, outcomeUnknown: boolean): ProviderError {
  if (error.outcomeUnknown === outcomeUnknown) return error
  const { cause, code, kind, message, retryAfterMs } = error
  return new ProviderError(kind, message, {
    cause,
    ...(code !== undefined && { code }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    outcomeUnknown,
  })
}
