import { pause, type Clock, type Timer } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { withJitter, type Random } from '../runtime/random.ts'
import { connectionError, watchEventError } from './api-errors.ts'
import { Backoff } from './backoff.ts'
import type { ListWatchSource } from './collection-source.ts'
import type { Decode } from './decode.ts'
import { asObject, objectAt, stringAt, type JsonObject } from './json.ts'
import { parsedLines } from './json-lines.ts'
import { KubernetesError, type KubernetesErrorKind } from './kubernetes-error.ts'
import { ReflectedSet, type Reflected, type ReflectorStore } from './reflected-set.ts'

export interface ReflectorOptions<T extends Reflected> {
  /** For logs, such as `claims`. */
  readonly name: string
  readonly source: ListWatchSource
  readonly decode: Decode<T>
  readonly store: ReflectorStore<T>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Default 500. */
  readonly pageSize?: number
  /** A watch on which nothing was heard for this long is opened anew; default 120,000 ms. */
  readonly inactivityLimitMs?: number
  /** A list older than this is made again when a watch ends, against events that were lost; default an hour. */
  readonly relistAfterMs?: number
}

export interface ReflectorStatus {
  /** True from the first complete list on. */
  readonly synced: boolean
  /** Since the server was last heard: an event, a bookmark, a page, a watch opened. Since the start where it never was. */
  readonly lastEventAgeMs: number
  /** Since the last complete list, or since the start where there was none yet. */
  readonly lastListAgeMs: number
  /** Lists and watches that ended by a fault. */
  readonly restarts: number
  readonly objects: number
  /** Objects and lines that could not be read. */
  readonly unreadable: number
}

// Ends by itself on the server, at different times for each of our watches and processes.
const watchSecondsMin = 300
const watchSecondsMax = 600
// A watch that lived this long shows a server in good health, however it ended.
const healthyWatchMs = 10_000

/**
 * List, then watch, for ever: the store hears of every object's present state sooner or later, and no fault of the
 * server, the network or a handler ends the loop. Only what `decode` makes of an object is kept.
 *
 * Lists are paged and read at the newest version (no resourceVersion: with "0" the server ignores the limit and sends
 * everything at once). A watch goes on from the last version seen, however the one before it ended; 410 means a new
 * list, which is compared with what is known.
 */
export class Reflector<T extends Reflected> {
  readonly #options: ReflectorOptions<T>
  readonly #objects: ReflectedSet<T>
  readonly #backoff: Backoff
  readonly #stopping = new AbortController()
  readonly #relistAfterMs: number
  #loop: Promise<void> | undefined
  #startedAtMs = 0
  #lastEventAtMs: number | undefined
  #lastListAtMs: number | undefined
  #restarts = 0
  #lastFault: KubernetesErrorKind | undefined
  #unreadable = 0
  /** Where the next watch begins; undefined when a list is due. */
  #resourceVersion: string | undefined
  /** Expired pages: the next list is asked for in one piece, as client-go does. */
  #unpaged = false
  /** A line could not be read and may be one that we needed: a list makes good for it when the watch ends. */
  #missedEvent = false

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#objects = new ReflectedSet(options.store, options.logger)
    this.#backoff = new Backoff({ firstMs: 1_000, maxMs: 30_000, random: options.random })
    this.#relistAfterMs = withJitter(options.relistAfterMs ?? 3_600_000, options.random)
  }

  start(): void {
    if (this.#loop !== undefined) return
    this.#startedAtMs = this.#options.clock.monotonicMs()
    this.#loop = this.#run()
  }

  /** Resolves when nothing is left running: no call, no timer, no handler. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  get status(): ReflectorStatus {
    const nowMs = this.#options.clock.monotonicMs()
    const ageMs = (atMs: number | undefined) => (this.#loop === undefined ? 0 : nowMs - (atMs ?? this.#startedAtMs))
    return {
      synced: this.#lastListAtMs !== undefined,
      lastEventAgeMs: ageMs(this.#lastEventAtMs),
      lastListAgeMs: ageMs(this.#lastListAtMs),
      restarts: this.#restarts,
      objects: this.#objects.size,
      unreadable: this.#unreadable,
    }
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        if (this.#resourceVersion === undefined) await this.#list()
        else await this.#watchOnce(this.#resourceVersion)
      } catch (error) {
        if (this.#stopping.signal.aborted) return
        await this.#recover(connectionError(error))
      }
    }
  }

  async #recover(error: KubernetesError): Promise<void> {
    this.#restarts++
    const { clock, logger, name } = this.#options
    if (error.kind === 'gone') {
      // While listing: the pages expired. While watching: our version did.
      this.#unpaged = this.#resourceVersion === undefined
      this.#resourceVersion = undefined
      // After an outage this is the sign that the server is back; only when it repeats is it a reason to be slow.
      if (this.#lastFault !== 'gone') this.#backoff.reset()
    }
    this.#lastFault = error.kind
    const delayMs = Math.max(this.#backoff.nextMs(), Math.min(error.retryAfterMs ?? 0, 60_000))
    logger.warn(
      { source: name, kind: error.kind, reason: error.message, delayMs: Math.round(delayMs) },
      'watch restarts',
    )
    await pause(clock, delayMs, this.#stopping.signal)
  }

  async #list(): Promise<void> {
    this.#objects.beginList()
    let page: { readonly next: string | undefined; readonly version: string } | undefined
    do {
      page = this.#takePage(await this.#fetchPage(page?.next))
    } while (page.next !== undefined)
    this.#objects.endList()

    this.#unpaged = false
    this.#missedEvent = false
    this.#resourceVersion = page.version
    const first = this.#lastListAtMs === undefined
    this.#lastListAtMs = this.#options.clock.monotonicMs()
    if (first) this.#objects.synced()
  }

  async #fetchPage(next: string | undefined): Promise<JsonObject> {
    const limit = this.#unpaged ? undefined : (this.#options.pageSize ?? 500)
    const page = asObject(await this.#options.source.list({ limit, continue: next }, this.#stopping.signal))
    if (page === undefined || !Array.isArray(page['items'])) {
      throw new KubernetesError('unavailable', 'the answer to a list holds no items')
    }
    return page
  }

  /** Not async, so that nothing holds the page while the next one is under way. */
  #takePage(page: JsonObject): { next: string | undefined; version: string } {
    this.#lastEventAtMs = this.#options.clock.monotonicMs()
    for (const item of page['items'] as readonly unknown[]) this.#put(item)
    const metadata = objectAt(page, 'metadata')
    const version = stringAt(metadata, 'resourceVersion')
    if (version === undefined) throw new KubernetesError('unavailable', 'the answer to a list has no resourceVersion')
    return { next: stringAt(metadata, 'continue'), version }
  }

  async #watchOnce(from: string): Promise<void> {
    const { clock, random, source } = this.#options
    const openedAtMs = clock.monotonicMs()
    const life = new WatchLife(clock, this.#options.inactivityLimitMs ?? 120_000, this.#stopping.signal)
    try {
      const seconds = watchSecondsMin + Math.floor(random.next() * (watchSecondsMax - watchSecondsMin + 1))
      const query = { resourceVersion: from, allowWatchBookmarks: true, timeoutSeconds: seconds }
      const chunks = await source.watch(query, life.signal)
      this.#lastEventAtMs = clock.monotonicMs()
      for await (const event of parsedLines(chunks, () => life.sign())) this.#takeEvent(event)
    } catch (error) {
      // Either the connection is dead, or nothing happens: bookmarks come each minute, but the API server holds back
      // those that would not go beyond the version we began at. The next watch shows which it was.
      if (!life.isSilent) throw error
      this.#options.logger.debug({ source: this.#options.name }, 'a silent watch is opened anew')
    } finally {
      life.end()
      if (this.#missedEvent) this.#resourceVersion = undefined
      if (clock.monotonicMs() - openedAtMs >= healthyWatchMs) {
        this.#backoff.reset()
        this.#lastFault = undefined
      }
    }
    if (this.status.lastListAgeMs >= this.#relistAfterMs) this.#resourceVersion = undefined
    // A server that closes at once, on its way down or badly proxied, is met slowly.
    if (clock.monotonicMs() - openedAtMs < healthyWatchMs) {
      await pause(clock, this.#backoff.nextMs(), this.#stopping.signal)
    }
  }

  /** Throws what an ERROR event says. */
  #takeEvent(line: unknown): void {
    const event = asObject(line)
    const type = stringAt(event, 'type')
    const object = objectAt(event, 'object')
    if (type === 'ERROR') throw watchEventError(object)
    const metadata = objectAt(object, 'metadata')
    const version = stringAt(metadata, 'resourceVersion')
    if (type === undefined || version === undefined) {
      this.#unreadable++
      this.#missedEvent = true
      return this.#options.logger.warn({ source: this.#options.name }, 'a line of the watch could not be read')
    }
    this.#lastEventAtMs = this.#options.clock.monotonicMs()
    if (type === 'ADDED' || type === 'MODIFIED') this.#put(object)
    else if (type === 'DELETED') this.#objects.remove(keyOf(metadata), stringAt(metadata, 'uid'))
    this.#resourceVersion = version
  }

  #put(object: unknown): void {
    const key = keyOf(objectAt(asObject(object), 'metadata'))
    const decoded = this.#options.decode(object)
    if (decoded.ok) return this.#objects.put(key, decoded.value)
    this.#unreadable++
    this.#objects.keep(key)
    this.#options.logger.warn(
      { source: this.#options.name, key, reason: decoded.reason },
      'an object could not be read',
    )
  }
}

function keyOf(metadata: JsonObject | undefined): string {
  const name = stringAt(metadata, 'name') ?? ''
  const namespace = stringAt(metadata, 'namespace')
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** Aborts one watch when nothing was heard for too long, or when the reflector stops. */
class WatchLife {
  readonly #controller = new AbortController()
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #stopping: AbortSignal
  #timer: Timer
  #heardAtMs: number

  constructor(clock: Clock, limitMs: number, stopping: AbortSignal) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#stopping = stopping
    this.#heardAtMs = clock.monotonicMs()
    this.#timer = clock.setTimer(limitMs, () => this.#check())
    stopping.addEventListener('abort', this.#abort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether silence has ended it. */
  get isSilent(): boolean {
    return this.signal.aborted && !this.#stopping.aborted
  }

  /** Called for every chunk, so it moves no timer. */
  sign(): void {
    this.#heardAtMs = this.#clock.monotonicMs()
  }

  end(): void {
    this.#timer.cancel()
    this.#stopping.removeEventListener('abort', this.#abort)
  }

  #check(): void {
    const leftMs = this.#limitMs - (this.#clock.monotonicMs() - this.#heardAtMs)
    if (leftMs <= 0) this.#abort()
    else this.#timer = this.#clock.setTimer(leftMs, () => this.#check())
  }

  readonly #abort = (): void => {
    this.#controller.abort(new KubernetesError('unavailable', `nothing heard on a watch for ${this.#limitMs} ms`))
  }
}
