import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { KubeAccess } from './kubeconfig.ts'
import type { KubeObject, Stored } from './kube-objects.ts'

/**
 * A client of the tests' own, on purpose not the product's: a fault in the product's client must not hide itself.
 */
export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  /** Default `application/json`. */
  readonly contentType?: string
  readonly signal?: AbortSignal
  /** Called for each admission warning that the answer carries. */
  readonly onWarning?: (warning: string) => void
}

export interface WatchEvent<T extends KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: Stored<T>
}

/** An answer of the API server that is no success. */
export class KubeStatusError extends Error {
  override readonly name = 'KubeStatusError'
  readonly status: number
  readonly reason: string | undefined

  constructor(call: string, status: number, body: string) {
    const parsed = statusOf(body)
    super(`${call}: ${status} ${parsed.message ?? body.slice(0, 500)}`)
    this.status = status
    this.reason = parsed.reason
  }
}

// Enough to fill the API server from one process; an admin is exempt from priority and fairness.
const maxConnections = 64

export class KubeClient {
  readonly url: string
  readonly #agent: Agent
  readonly #watchAgent: Agent
  readonly #token: string | undefined

  constructor(access: KubeAccess) {
    this.url = access.url
    this.#token = access.token
    const tls = { ca: access.caPem, cert: access.clientCertPem, key: access.clientKeyPem, keepAlive: true }
    this.#agent = new Agent({ ...tls, maxSockets: maxConnections })
    // Watches hold their connection; they must not take the places of calls.
    this.#watchAgent = new Agent(tls)
  }

  /** Rejects with KubeStatusError for every answer that is not 2xx. */
  async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const response = await this.#send(method, path, options, this.#agent)
    const body = await text(response)
    const status = response.statusCode ?? 0
    if (status < 200 || status > 299) throw new KubeStatusError(`${method} ${path}`, status, body)
    if (options.onWarning !== undefined) for (const warning of warningsOf(response)) options.onWarning(warning)
    return (response.headers['content-type']?.includes('json') === true ? JSON.parse(body) : body) as T
  }

  /**
   * Yields changes until the server ends the watch or `signal` aborts; then returns. Rejects where the API server
   * refuses, also in the stream (410 as KubeStatusError).
   */
  async *watch<T extends KubeObject>(path: string, options: CallOptions = {}): AsyncGenerator<WatchEvent<T>> {
    const watching = { ...options, query: { ...options.query, watch: true } }
    let response: IncomingMessage | undefined
    try {
      response = await this.#send('GET', path, watching, this.#watchAgent)
      if (response.statusCode !== 200) {
        throw new KubeStatusError(`watch ${path}`, response.statusCode ?? 0, await text(response))
      }
      for await (const line of createInterface({ input: response, crlfDelay: Infinity })) {
        const event = JSON.parse(line) as { type: string; object: unknown }
        if (event.type === 'ERROR') throw new KubeStatusError(`watch ${path}`, 410, JSON.stringify(event.object))
        if (event.type !== 'BOOKMARK') yield event as WatchEvent<T>
      }
    } catch (error) {
      if (options.signal?.aborted !== true) throw error
    } finally {
      response?.destroy()
    }
  }

  close(): void {
    this.#agent.destroy()
    this.#watchAgent.destroy()
  }

  async #send(method: string, path: string, options: CallOptions, agent: Agent): Promise<IncomingMessage> {
    const url = new URL(path, this.url)
    for (const [key, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) url.searchParams.set(key, String(value))
    }
    const payload = options.body === undefined ? undefined : JSON.stringify(options.body)
    const outgoing = httpsRequest(url, {
      method,
      agent,
      headers: {
        accept: 'application/json',
        'user-agent': 'k8s-cloud-tagger-e2e',
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...(payload !== undefined && {
          'content-type': options.contentType ?? 'application/json',
          'content-length': Buffer.byteLength(payload),
        }),
      },
      ...(options.signal !== undefined && { signal: options.signal }),
    })
    outgoing.end(payload)
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    return response
  }
}

/** The header's form is `299 - "text"`, several of them joined by a comma. */
function warningsOf(response: IncomingMessage): readonly string[] {
  const header = response.headers['warning']
  const joined = Array.isArray(header) ? header.join(', ') : (header ?? '')
  return [...joined.matchAll(/299 \S+ "(?<text>(?:[^"\\]|\\.)*)"/gu)].map((match) =>
    (match.groups?.['text'] ?? '').replaceAll(/\\(?<escaped>.)/gu, '$<escaped>'),
  )
}

function statusOf(body: string): { readonly message?: string; readonly reason?: string } {
  try {
    return JSON.parse(body) as { message?: string; reason?: string }
  } catch {
    return {}
  }
}
