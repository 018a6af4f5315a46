import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { CertificateAuthority } from '../certificates.ts'
import { childOf, isJsonObject, type JsonObject } from './objects.ts'

export type HookAnswer = JsonObject | number | string

/** A webhook whose answers a test decides: a response, a status code, a raw body, or `never`. */
export class ScriptedWebhook {
  readonly requests: JsonObject[] = []
  readonly urls: string[] = []
  connections = 0
  respond: (request: JsonObject) => HookAnswer | Promise<HookAnswer> = () => ({ allowed: true })
  readonly #server: Server
  #onAsked: (() => void) | undefined

  static async start(authority: CertificateAuthority, names: readonly string[]): Promise<ScriptedWebhook> {
    const leaf = await authority.issue(names)
    const hook = new ScriptedWebhook(createServer({ cert: leaf.certificate, key: leaf.key }))
    await new Promise<void>((resolve) => void hook.#server.listen(0, '127.0.0.1', resolve))
    return hook
  }

  private constructor(server: Server) {
    this.#server = server
    server.on('secureConnection', () => this.connections++)
    server.on('request', (incoming, response) => void this.#answer(incoming, response))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  onlyRequest(): JsonObject {
    const [request] = this.requests
    if (request === undefined || this.requests.length > 1)
      throw new Error(`${this.requests.length} requests came, not one`)
    return request
  }

  /** Resolves at the next request. */
  asked(): Promise<void> {
    return new Promise((resolve) => (this.#onAsked = resolve))
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
    const review = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject
    const request = childOf(review, 'request')
    this.requests.push(request)
    this.urls.push(incoming.url ?? '')
    this.#onAsked?.()
    const answer = await this.respond(request)
    if (answer === 'never') return
    if (typeof answer === 'number') response.statusCode = answer
    response.end(isJsonObject(answer) ? JSON.stringify(reviewOf(request, answer)) : String(answer))
  }
}

function reviewOf(request: JsonObject, { kind = 'AdmissionReview', ...response }: JsonObject): JsonObject {
  return { apiVersion: 'admission.k8s.io/v1', kind, response: { uid: request['uid'], ...response } }
}
