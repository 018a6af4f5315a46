import type { ServerResponse } from 'node:http'
import type { Clock, Timer } from '../../src/runtime/clock.ts'
import { ApiStatusError, invalid } from './api-status.ts'
import type { ApiRequest } from './api-request.ts'
import type { ObjectStore, StoreEvent, VersionCounter } from './object-store.ts'
import type { JsonObject, KubeObject } from './objects.ts'
import { apiVersionOf, shownAs } from './resource-types.ts'
import type { Selects } from './selectors.ts'

export interface WatchSettings {
  readonly bookmarkIntervalMs: number
  /** Whether sendInitialEvents is understood, as from Kubernetes 1.34 on by default. */
  readonly watchList: boolean
  /** Answer a forgotten version with HTTP 410 instead of a 200 that carries an ERROR event. */
  readonly goneAsHttpStatus: boolean
}

// The API server ends a watch without timeoutSeconds after a random time between 30 and 60 minutes.
const defaultTimeoutSeconds = 1800

/** One open watch. It ends by its time-out, by the client, or by what a test does to it. */
export class WatchStream {
  readonly request: ApiRequest
  readonly #response: ServerResponse
  readonly #store: ObjectStore
  readonly #counter: VersionCounter
  readonly #selects: Selects
  readonly #timers = new Set<Timer>()
  readonly #clock: Clock
  #unsubscribe: () => void = () => {}
  #silent = false

  constructor(deps: {
    readonly request: ApiRequest
    readonly response: ServerResponse
    readonly store: ObjectStore
    readonly counter: VersionCounter
    readonly selects: Selects
    readonly clock: Clock
  }) {
    this.request = deps.request
    this.#response = deps.response
    this.#store = deps.store
    this.#counter = deps.counter
    this.#selects = deps.selects
    this.#clock = deps.clock
  }

  /** Resolves when the stream has ended. Throws before anything was sent. */
  async run(settings: WatchSettings): Promise<void> {
    const { query } = this.request
    const initialEvents = wantsInitialEvents(this.request, settings)
    const backlog = this.#backlog(settings)
    const ended = new Promise<void>((resolve) => this.#response.once('close', resolve))
    this.#response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' })
    this.#response.flushHeaders()
    if (backlog instanceof ApiStatusError) {
      this.#send('ERROR', backlog.toStatus())
      this.#response.end()
      return ended
    }
    for (const event of backlog) this.#deliver(event)
    if (initialEvents) this.#bookmark({ 'k8s.io/initial-events-end': 'true' })
    this.#unsubscribe = this.#store.subscribe((event) => this.#deliver(event))
    const seconds = Number(query.get('timeoutSeconds') ?? 0)
    this.#after((seconds > 0 ? seconds : defaultTimeoutSeconds) * 1000, () => this.end())
    if (query.get('allowWatchBookmarks') === 'true') this.#bookmarkEvery(settings.bookmarkIntervalMs)
    await ended
    this.#release()
  }

  /** Ends as the server does when the time is up. */
  end(): void {
    this.#release()
    this.#response.end()
  }

  /** Breaks the connection within an event. */
  cut(): void {
    this.#release()
    this.#response.write('{"type":"MODIFIED","object":{"kind":"Persis')
    // The half line must have left the process before the connection goes.
    setImmediate(() => this.#response.destroy())
  }

  /** From now on the connection stays open and nothing comes, no bookmark either: a half-open connection. */
  silence(): void {
    this.#silent = true
  }

  /** Sends an ERROR event and ends, as after a compaction under a running watch. */
  fail(error: ApiStatusError): void {
    this.#send('ERROR', error.toStatus())
    this.end()
  }

  /** What the client has missed since its version; without a version, or from 0, all that is there. */
  #backlog(settings: WatchSettings): readonly StoreEvent[] | ApiStatusError {
    const asked = this.request.query.get('resourceVersion') ?? ''
    if (asked === '' || asked === '0') {
      return this.#store
        .list(this.request.namespace)
        .map((object) => ({ type: 'ADDED', version: 0, object, previous: undefined }))
    }
    const version = parseVersion(asked)
    try {
      return this.#store.since(version)
    } catch (error) {
      if (settings.goneAsHttpStatus || !(error instanceof ApiStatusError)) throw error
      return error
    }
  }

  /** An object that a change moves into the selection is an addition, one that it moves out a deletion. */
  #deliver({ type, object, previous, version }: StoreEvent): void {
    const { namespace } = this.request
    if (namespace !== undefined && object.metadata.namespace !== namespace) return
    const was = previous !== undefined && this.#selects(previous)
    const is = type !== 'DELETED' && this.#selects(object)
    if (type === 'DELETED' ? this.#selects(object) : was && !is) {
      const last = type === 'DELETED' ? object : (previous ?? object)
      this.#sendObject('DELETED', { ...last, metadata: { ...last.metadata, resourceVersion: String(version) } })
    } else if (is) {
      this.#sendObject(was ? 'MODIFIED' : 'ADDED', object)
    }
  }

  #bookmarkEvery(intervalMs: number): void {
    this.#after(intervalMs, () => {
      this.#bookmark()
      this.#bookmarkEvery(intervalMs)
    })
  }

  #bookmark(annotations?: Record<string, string>): void {
    const { type } = this.request
    this.#send('BOOKMARK', {
      kind: type.kind,
      apiVersion: apiVersionOf(type),
      metadata: {
        resourceVersion: String(this.#counter.current),
        ...(annotations === undefined ? {} : { annotations }),
      },
    })
  }

  #sendObject(type: string, object: KubeObject): void {
    this.#send(type, shownAs(this.request.type, object))
  }

  #send(type: string, object: JsonObject): void {
    if (!this.#silent) this.#response.write(`${JSON.stringify({ type, object })}\n`)
  }

  #after(delayMs: number, callback: () => void): void {
    const timer = this.#clock.setTimer(delayMs, () => {
      this.#timers.delete(timer)
      callback()
    })
    this.#timers.add(timer)
  }

  #release(): void {
    this.#unsubscribe()
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
  }
}

/** The answer to something that is no number is 500 on the real server too. */
function parseVersion(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  const message = `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`
  throw new ApiStatusError(500, '', message)
}

function wantsInitialEvents({ query }: ApiRequest, settings: WatchSettings): boolean {
  if (!query.has('sendInitialEvents')) return false
  const listOptions = { group: 'meta.k8s.io', plural: 'ListOptions', kind: 'ListOptions' }
  const refuse = (field: string, why: string): never => {
    throw invalid(listOptions, '', [{ reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field }])
  }
  if (!settings.watchList) {
    refuse('sendInitialEvents', 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled')
  }
  if (query.get('resourceVersionMatch') !== 'NotOlderThan') {
    refuse('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')
  }
  return query.get('sendInitialEvents') === 'true'
}
