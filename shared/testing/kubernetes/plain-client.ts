import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import type { EmbeddedKubernetes } from './embedded-kubernetes.ts'
import { isJsonObject, type JsonObject, type KubeObject } from './objects.ts'

export interface PlainAnswer {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  /** The decoded JSON, or an object with the text where it is none. */
  readonly body: JsonObject
}

export interface WatchEvent {
  readonly type: string
  readonly object: KubeObject
}

export const jsonPatch = 'application/json-patch+json'
export const mergePatch = 'application/merge-patch+json'

/** HTTPS without any Kubernetes library: shows what is on the wire. */
export class PlainClient {
  readonly #server: EmbeddedKubernetes
  readonly #token: () => string
  readonly #agent: Agent

  /** With the user's present token at each request, or always with the one given. */
  constructor(server: EmbeddedKubernetes, user = 'admin', token?: string) {
    this.#server = server
    this.#token = () => token ?? server.users.tokenOf(user)
    this.#agent = new Agent({ keepAlive: true, ca: server.caCertificate })
  }

  close(): void {
    this.#agent.destroy()
  }

  get(path: string): Promise<PlainAnswer> {
    return this.send('GET', path)
  }

  post(path: string, body: unknown): Promise<PlainAnswer> {
    return this.send('POST', path, body)
  }

  put(path: string, body: unknown): Promise<PlainAnswer> {
    return this.send('PUT', path, body)
  }

  patch(path: string, body: unknown, contentType = mergePatch): Promise<PlainAnswer> {
    return this.send('PATCH', path, body, contentType)
  }

  delete(path: string, body?: unknown): Promise<PlainAnswer> {
    return this.send('DELETE', path, body)
  }

  async send(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<PlainAnswer> {
    const response = await this.#request(method, path, body, contentType)
    const text = await textOf(response)
    return { code: response.statusCode ?? 0, headers: response.headers, body: decode(text) }
  }

  /** Opens a watch; resolves when the answer's head is there. */
  async watch(path: string): Promise<WatchReader> {
    const response = await this.#request('GET', path, undefined, 'application/json')
    return new WatchReader(response)
  }

  #request(method: string, path: string, body: unknown, contentType: string): Promise<IncomingMessage> {
    const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const outgoing = request(this.#server.url + path, {
        method,
        agent: this.#agent,
        headers: {
          Authorization: `Bearer ${this.#token()}`,
          ...(payload === undefined
            ? {}
            : { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(payload) }),
        },
      })
      outgoing.on('response', resolve)
      outgoing.on('error', reject)
      outgoing.end(payload)
    })
  }
}

/** The events of one watch, in the order in which they come. */
export class WatchReader {
  readonly code: number
  /** Resolves with how the stream ended; never rejects. */
  readonly ended: Promise<'complete' | 'broken'>
  readonly #response: IncomingMessage
  readonly #events: WatchEvent[] = []
  #waiting: (() => void) | undefined
  #rest = ''

  constructor(response: IncomingMessage) {
    this.code = response.statusCode ?? 0
    this.#response = response
    this.ended = new Promise((resolve) => {
      response.on('error', () => resolve('broken'))
      response.on('close', () => resolve(response.complete ? 'complete' : 'broken'))
    })
    response.on('data', (chunk: Buffer) => this.#take(chunk.toString()))
  }

  /** Events that came and were not fetched yet. */
  get pending(): number {
    return this.#events.length
  }

  async next(): Promise<WatchEvent> {
    for (;;) {
      const event = this.#events.shift()
      if (event !== undefined) return event
      await new Promise<void>((resolve) => (this.#waiting = resolve))
    }
  }

  async take(count: number): Promise<WatchEvent[]> {
    const events: WatchEvent[] = []
    while (events.length < count) events.push(await this.next())
    return events
  }

  close(): void {
    this.#response.destroy()
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#events.push(JSON.parse(line) as WatchEvent)
    this.#waiting?.()
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function decode(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : { value }
  } catch {
    return { text }
  }
}
