import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../src/runtime/clock.ts'
import type { AcceptedCall, CloudService, Refusal } from '../cloud-fake/call-handler.ts'
import type { HttpAnswer } from '../cloud-fake/http.ts'
import { ArmFault } from './arm-fault.ts'
import type { AzureCloud, Request } from './azure-cloud.ts'
import type { OwnFault } from './faults.ts'
import type { RecordedCall } from './recorded-call.ts'
import { checkGraphRequest } from './graph-schema.ts'
import { checkTagsRequest, type TagsSchema } from './tags-schema.ts'
import { tooManyRequests } from './token-buckets.ts'

export interface ArmServiceParts {
  readonly cloud: AzureCloud
  readonly clock: Clock
  readonly schema: TagsSchema
  /** Refuse calls without a token that this fake has issued. */
  readonly requireToken: boolean
}

const json = 'application/json; charset=utf-8'

/** Azure Resource Manager, Resource Graph and Entra ID by REST. */
export class ArmService implements CloudService<Request, RecordedCall, OwnFault> {
  readonly #parts: ArmServiceParts
  readonly garbage: HttpAnswer = { status: 200, type: 'text/html', body: '<html><body>The service is warming up' }

  constructor(parts: ArmServiceParts) {
    this.#parts = parts
  }

  record(incoming: IncomingMessage, { route, url, body }: Request, atMs: number): RecordedCall {
    return {
      atMs,
      operation: route.operation,
      method: incoming.method ?? '',
      path: `${url.pathname}${url.search}`,
      body,
      disk: route.disk,
      authorization: incoming.headers.authorization,
      outcome: undefined,
      endedAtMs: undefined,
    }
  }

  admit({ headers, method = 'GET' }: IncomingMessage, { route, url, body }: Request): void {
    this.#checkToken(route.operation, headers.authorization)
    this.#parts.cloud.admit(route)
    const query = url.searchParams
    if (route.operation === 'QueryResources') checkGraphRequest({ query, body })
    if (!route.operation.endsWith('Tags')) return
    const path = decodeURIComponent(url.pathname).slice(route.disk?.length)
    const contentType = headers['content-type']
    checkTagsRequest({ method, path, query, contentType, body }, this.#parts.schema)
  }

  accept(request: Request): AcceptedCall {
    const { answer, effect, headers, status } = this.#parts.cloud.accept(request)
    return {
      effect,
      answer: this.#withHeaders(request, { status, type: json, body: JSON.stringify(answer) }, headers),
    }
  }

  refusal(error: unknown, request: Request): Refusal {
    const { code, headers, message, status } =
      error instanceof ArmFault ? error : new ArmFault(500, 'InternalServerError', String(error))
    const body = errorBody(request, code, message)
    return { outcome: code, answer: this.#withHeaders(request, { status, type: json, body }, headers) }
  }

  throttled({ route }: Request, retryAfterSeconds: number | undefined): ArmFault {
    return tooManyRequests(route.bucket ?? 'writes', retryAfterSeconds)
  }

  suffer({ code, message, status = 400 }: OwnFault, request: Request): Refusal {
    if (code !== undefined) throw new ArmFault(status, code, message ?? `${code} was asked for`)
    const answer = { ...this.garbage, status, body: message ?? this.garbage.body }
    return { outcome: `HTTP ${status}`, answer: this.#withHeaders(request, answer) }
  }

  /** Those that every answer has, whatever it says. */
  #withHeaders({ route }: Request, answer: HttpAnswer, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
    const common = { 'x-ms-request-id': randomUUID(), ...this.#parts.cloud.headers(route) }
    return { ...answer, headers: { ...headers, ...common } }
  }

  #checkToken(operation: string, authorization: string | undefined): void {
    const { clock, cloud, requireToken } = this.#parts
    if (operation === 'Token' || operation === 'OpenIdConfiguration') return
    const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1]
    if (token === undefined) throw new ArmFault(401, 'AuthenticationFailed', 'The Authorization header is missing.')
    if (requireToken && !cloud.tokens.isValid(token, clock.wallMs())) {
      throw new ArmFault(401, 'ExpiredAuthenticationToken', 'The access token has expired or is not valid.')
    }
  }
}

/** ARM's form; Entra ID has its own, and Resource Graph hides the reason inside. */
function errorBody({ route }: Request, code: string, message: string): string {
  const { operation } = route
  if (operation === 'Token') return JSON.stringify({ error: code, error_description: message, error_codes: [7000218] })
  const reason = / (\w+)$/.exec(message)?.[1]
  const details =
    operation === 'QueryResources' && code === 'BadRequest' ? { details: [{ code: reason, message }] } : {}
  return JSON.stringify({ error: { code, message, ...details } })
}
