import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Clock, pause } from '../../src/runtime/clock.ts'
import type { KeyAndCertificate } from '../certificates.ts'
import { ApiStatusError, internalError, unauthorized } from './api-status.ts'
import { type ApiRequest, parseResourcePath, type ResourcePath } from './api-request.ts'
import { discover } from './discovery.ts'
import type { FaultEffect, Faults } from './faults.ts'
import type { InFlightLimit } from './in-flight-limit.ts'
import type { LoggedRequest, RequestLog } from './request-log.ts'
import type { Answer } from './resource-handler.ts'
import type { Users } from './users.ts'

const bodyBytesMax = 3 * 1024 * 1024

/** `before`: nothing has happened yet; `after`: the store has changed and nobody has been told. */
export type Moment = 'before' | 'after'

export type RequestHook = (moment: Moment, request: ApiRequest) => void | Promise<void>

export interface FrontDeps {
  readonly clock: Clock
  readonly users: Users
  readonly faults: Faults
  readonly limit: InFlightLimit
  readonly log: RequestLog
  readonly hooks: ReadonlySet<RequestHook>
  readonly handle: (request: ApiRequest, warnings: string[]) => Promise<Answer>
  readonly watch: (request: ApiRequest, response: ServerResponse) => Promise<void>
}

/** HTTPS, who asks, whether he may, and what a test has planned for him; what follows is the business of `handle`. */
export class HttpFront {
  readonly #deps: FrontDeps
  readonly #server: Server
  #sequence = 0
  #connections = 0

  constructor(deps: FrontDeps, identity: KeyAndCertificate) {
    this.#deps = deps
    this.#server = createServer({ cert: identity.certificate, key: identity.key, ALPNProtocols: ['http/1.1'] })
    // Longer than any client keeps an idle connection, so that none sends into one that is just being closed.
    this.#server.keepAliveTimeout = 95_000
    this.#server.on('secureConnection', () => this.#connections++)
    this.#server.on('request', (incoming, response) => void this.#serve(incoming, response))
  }

  /** TLS connections accepted since the start: shows whether a client pools them. */
  get connections(): number {
    return this.#connections
  }

  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', resolve)
    })
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'https://localhost')
    const warnings: string[] = []
    try {
      const body = await readBody(incoming)
      const discovered = incoming.method === 'GET' ? discover(url.pathname, incoming.headers.host ?? '') : undefined
      if (discovered?.text === true) return sendText(response, 200, String(discovered.body))
      const user = this.#deps.users.authenticate(incoming.headers.authorization)
      if (user === undefined) throw unauthorized()
      if (discovered !== undefined) return send(response, { code: 200, body: discovered.body }, warnings)
      const path = parseResourcePath(incoming.method ?? 'GET', url.pathname, url.searchParams)
      if (path === undefined) return sendText(response, 404, '404 page not found\n')
      await this.#serveResource(describe(path, incoming, url, body, user, ++this.#sequence), response, warnings)
    } catch (error) {
      fail(response, error, warnings)
    }
  }

  async #serveResource(request: ApiRequest, response: ServerResponse, warnings: string[]): Promise<void> {
    const entry = this.#deps.log.add(request)
    response.once('finish', () => (entry.code ||= response.statusCode))
    const effect = this.#deps.faults.take(request)
    if (effect !== undefined && !(await this.#suffer(effect, response))) return
    const leave = this.#deps.limit.enter(request)
    if (leave === undefined) return tooManyRequests(response, 1)
    try {
      const { type, ...attempt } = request
      this.#deps.users.authorize(request.user, { ...attempt, subject: type })
      await this.#carryOut(request, { response, warnings, entry, loseAnswer: effect?.kind === 'lose-answer' })
    } finally {
      leave()
    }
  }

  async #carryOut(
    request: ApiRequest,
    to: {
      readonly response: ServerResponse
      readonly warnings: string[]
      readonly entry: LoggedRequest
      readonly loseAnswer: boolean
    },
  ): Promise<void> {
    await this.#tellHooks('before', request)
    if (request.verb === 'watch') {
      to.entry.code = 200
      return this.#deps.watch(request, to.response)
    }
    const answer = await this.#deps.handle(request, to.warnings)
    await this.#tellHooks('after', request)
    if (to.loseAnswer) to.response.destroy()
    else send(to.response, answer, to.warnings)
  }

  async #tellHooks(moment: Moment, request: ApiRequest): Promise<void> {
    for (const hook of this.#deps.hooks) await hook(moment, request)
  }

  /** False when the request ends here. */
  async #suffer(effect: FaultEffect, response: ServerResponse): Promise<boolean> {
    switch (effect.kind) {
      case 'status':
        if (effect.code === 429) tooManyRequests(response, effect.retryAfterSeconds)
        else fail(response, faultStatus(effect), [])
        return false
      case 'hang':
        return false
      case 'drop':
        response.destroy()
        return false
      case 'delay':
        await pause(this.#deps.clock, effect.delayMs)
        return true
      case 'lose-answer':
        return true
      default:
        return effect satisfies never
    }
  }
}

function describe(
  path: ResourcePath,
  incoming: IncomingMessage,
  url: URL,
  ...[body, user, sequence]: [body: string, user: ApiRequest['user'], sequence: number]
): ApiRequest {
  return {
    ...path,
    sequence,
    user,
    query: url.searchParams,
    contentType: (incoming.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '',
    userAgent: incoming.headers['user-agent'] ?? '',
    body: parseBody(body),
  }
}

function faultStatus(effect: {
  readonly code: number
  readonly message?: string
  readonly retryAfterSeconds?: number
}): ApiStatusError {
  const { code, message = 'scripted fault', retryAfterSeconds } = effect
  const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  return new ApiStatusError(code, code === 500 ? 'InternalError' : '', message, more)
}

function parseBody(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) {
      throw new ApiStatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${bodyBytesMax}`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function send(response: ServerResponse, answer: Answer, warnings: readonly string[]): void {
  const text = JSON.stringify(answer.body)
  if (response.destroyed) return
  response.writeHead(answer.code, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-cache, private',
    ...(warnings.length === 0 ? {} : { Warning: [...new Set(warnings)].map(warningHeader) }),
  })
  response.end(text)
}

function warningHeader(text: string): string {
  return `299 - "${text.replaceAll(/[\\"]/g, String.raw`\$&`)}"`
}

function sendText(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { 'Content-Type': 'text/plain; charset=utf-8' })
  response.end(text)
}

/** Priority and fairness answers in plain text, not with a Status. */
function tooManyRequests(response: ServerResponse, retryAfterSeconds: number | undefined): void {
  if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds))
  sendText(response, 429, 'Too many requests, please try again later.\n')
}

function fail(response: ServerResponse, error: unknown, warnings: readonly string[]): void {
  const status = error instanceof ApiStatusError ? error : internalError(String(error))
  if (response.headersSent) return void response.destroy()
  if (status.retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(status.retryAfterSeconds))
  send(response, { code: status.code, body: status.toStatus() }, warnings)
}
