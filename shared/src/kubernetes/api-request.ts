/** One call to the API server, in plain JSON on both sides. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute path with its parts already encoded, such as `/api/v1/persistentvolumes/pv-1`. */
  readonly path: string
  readonly query?: ApiQuery
  /** Sent as JSON. */
  readonly body?: unknown
  readonly contentType?: string
  /** Milliseconds until the call is given up; the transport's own limit where it is not set. */
  readonly timeoutMs?: number
  readonly signal: AbortSignal
}

export type ApiQuery = Readonly<Record<string, string | number | boolean | undefined>>

/** What carries calls to one API server. Everything it throws is a KubernetesError. */
export interface ApiTransport {
  /** Resolves to the parsed body of a 2xx answer. */
  send(request: ApiRequest): Promise<unknown>
  /**
   * Opens a stream, such as a watch, once the answer is 200; `timeoutMs` bounds only the wait for that answer. The
   * stream ends when the server closes it and throws a KubernetesError when it is cut or `signal` aborts.
   */
  openStream(request: ApiRequest): Promise<AsyncIterable<Uint8Array>>
}

export const jsonPatchType = 'application/json-patch+json'

export function withQuery(path: string, query: ApiQuery = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`
}

const encode = encodeURIComponent

export const claimsPath = '/api/v1/persistentvolumeclaims'
export const volumesPath = '/api/v1/persistentvolumes'
export const namespacesPath = '/api/v1/namespaces'

export function claimPath(namespace: string, name: string): string {
  return `${namespacesPath}/${encode(namespace)}/persistentvolumeclaims/${encode(name)}`
}

export function namespacePath(name: string): string {
  return `${namespacesPath}/${encode(name)}`
}

export function volumePath(name: string): string {
  return `${volumesPath}/${encode(name)}`
}

export function eventsPath(namespace: string): string {
  return `/apis/events.k8s.io/v1/namespaces/${encode(namespace)}/events`
}

export function leasesPath(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${encode(namespace)}/leases`
}

export function leasePath(namespace: string, name: string): string {
  return `${leasesPath(namespace)}/${encode(name)}`
}
