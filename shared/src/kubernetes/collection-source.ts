import type { ApiQuery, ApiTransport } from './api-request.ts'
import type { ApiCaller } from './gated-api.ts'

/** Where a reflector lists and watches. Everything thrown is a KubernetesError. */
export interface ListWatchSource {
  /** One page, as parsed JSON. */
  list(query: ApiQuery, signal: AbortSignal): Promise<unknown>
  /** The bytes of one watch, one event a line. */
  watch(query: ApiQuery, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

export interface CollectionSourceOptions {
  /** For the lists, which take their turn as bulk calls. */
  readonly api: ApiCaller
  /** For the watches, which hold a connection for minutes and no place at the gate. */
  readonly transport: ApiTransport
  /** Such as `/api/v1/persistentvolumes`. */
  readonly path: string
  /** Sent with every list and watch, such as a label selector. */
  readonly query?: ApiQuery
}

// A page, or a whole list where pages expired, of a server that is busy.
const listTimeoutMs = 60_000

export function collectionSource({ api, transport, path, query }: CollectionSourceOptions): ListWatchSource {
  return {
    list: (more, signal) =>
      api.call(
        { method: 'GET', path, query: { ...query, ...more }, timeoutMs: listTimeoutMs },
        { signal, priority: 'bulk' },
      ),
    watch: (more, signal) =>
      transport.openStream({ method: 'GET', path, query: { ...query, ...more, watch: true }, signal }),
  }
}
