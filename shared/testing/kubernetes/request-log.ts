import type { ApiRequest } from './api-request.ts'

export interface LoggedRequest extends ApiRequest {
  /** Of the answer; 0 while it is on its way, or when the connection was dropped. For a watch, of its start. */
  code: number
}

export interface RequestFilter {
  readonly user?: string
  readonly verb?: string
  /** Plural name, with `/status` for the subresource. */
  readonly resource?: string
}

interface Count extends Required<RequestFilter> {
  requests: number
}

/** Counts every request for a resource since the start, or since `reset`, and keeps the last ones. */
export class RequestLog {
  readonly #sizeMax: number
  readonly #entries: LoggedRequest[] = []
  readonly #counts = new Map<string, Count>()

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  /** The last requests, oldest first. */
  get entries(): readonly LoggedRequest[] {
    return this.#entries.slice(-this.#sizeMax)
  }

  add(request: ApiRequest): LoggedRequest {
    const entry = { ...request, code: 0 }
    this.#entries.push(entry)
    if (this.#entries.length > 2 * this.#sizeMax) this.#entries.splice(0, this.#entries.length - this.#sizeMax)
    const user = request.user.username
    const resource = request.subresource === '' ? request.type.plural : `${request.type.plural}/${request.subresource}`
    const key = `${user} ${request.verb} ${resource}`
    const count = this.#counts.get(key) ?? { user, verb: request.verb, resource, requests: 0 }
    count.requests++
    this.#counts.set(key, count)
    return entry
  }

  /** Requests that match all of what is given. */
  count(filter: RequestFilter = {}): number {
    return this.counts()
      .filter(
        ({ user, verb, resource }) =>
          (filter.user ?? user) === user &&
          (filter.verb ?? verb) === verb &&
          (filter.resource ?? resource) === resource,
      )
      .reduce((sum, { requests }) => sum + requests, 0)
  }

  counts(): readonly Readonly<Count>[] {
    return [...this.#counts.values()]
  }

  reset(): void {
    this.#entries.length = 0
    this.#counts.clear()
  }
}
