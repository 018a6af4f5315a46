import { ApiStatusError, badRequest } from './api-status.ts'
import { isJsonObject, keyOf, type KubeObject } from './objects.ts'
import type { Selects } from './selectors.ts'

export interface Page {
  readonly items: readonly KubeObject[]
  readonly version: number
  readonly continueToken?: string
  readonly remaining?: number
}

interface Snapshot {
  readonly version: number
  readonly objects: readonly KubeObject[]
}

export interface PageRequest {
  /** The present objects, read only where no snapshot is asked for. */
  readonly current: () => Snapshot
  readonly scope: string
  readonly selects: Selects
  readonly filtered: boolean
  readonly limit: number
  readonly token: string
}

const snapshotsKept = 64

/**
 * Pages of one list come from the state at its first page. The snapshots share their objects with the store, so one
 * costs an array of references. One that was pushed out, or forgotten on purpose, answers 410 with a token that goes on
 * with the present state, as the API server does after a compaction.
 */
export class ListPages {
  readonly #snapshots = new Map<string, Snapshot>()

  page(request: PageRequest): Page {
    const at = request.token === '' ? undefined : decodeToken(request.token)
    const snapshot = this.#snapshotFor(request, at)
    const start = at === undefined ? 0 : snapshot.objects.findIndex((object) => keyOf(object) >= at.start)
    const items: KubeObject[] = []
    let next = start === -1 ? snapshot.objects.length : start
    while (next < snapshot.objects.length && (request.limit === 0 || items.length < request.limit)) {
      const object = snapshot.objects[next++]
      if (object !== undefined && request.selects(object)) items.push(object)
    }
    const { version } = snapshot
    const rest = snapshot.objects[next]
    if (rest === undefined) return { items, version }
    this.#keep(`${request.scope}@${version}`, snapshot)
    const continueToken = encodeToken(version, keyOf(rest))
    // How many remain is not known where a selector was given, as on the API server.
    return request.filtered
      ? { items, version, continueToken }
      : { items, version, continueToken, remaining: snapshot.objects.length - next }
  }

  /** Makes every token given out so far too old. */
  forget(): void {
    this.#snapshots.clear()
  }

  #snapshotFor(request: PageRequest, at: { version: number; start: string } | undefined): Snapshot {
    // A version of -1 stands for "whatever is there now": the token that comes with a 410.
    if (at === undefined || at.version === -1) return request.current()
    const snapshot = this.#snapshots.get(`${request.scope}@${at.version}`)
    if (snapshot === undefined) throw expiredToken(at.start)
    return snapshot
  }

  #keep(key: string, snapshot: Snapshot): void {
    this.#snapshots.delete(key)
    this.#snapshots.set(key, snapshot)
    const oldest = this.#snapshots.keys().next().value
    if (this.#snapshots.size > snapshotsKept && oldest !== undefined) this.#snapshots.delete(oldest)
  }
}

function expiredToken(start: string): ApiStatusError {
  return new ApiStatusError(
    410,
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
    { listMeta: { continue: encodeToken(-1, start) } },
  )
}

function encodeToken(version: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start })).toString('base64url')
}

function decodeToken(token: string): { version: number; start: string } {
  const decoded = parseJson(Buffer.from(token, 'base64url').toString())
  if (!isJsonObject(decoded) || typeof decoded['rv'] !== 'number' || typeof decoded['start'] !== 'string') {
    throw badRequest('invalid continue token: continue key is not valid')
  }
  return { version: decoded['rv'], start: decoded['start'] }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
