import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pause, type Clock } from '../../src/runtime/clock.ts'
import { send } from '../ec2/http.ts'
import { ArmFault } from './arm-fault.ts'
import type { AcceptedCall, AzureCloud, Request } from './azure-cloud.ts'
import type { CallLog, RecordedCall } from './call-log.ts'
import type { Fault, FaultScript } from './faults.ts'
import { tooManyRequests } from './token-buckets.ts'

export interface CallHandlerParts {
  readonly cloud: AzureCloud
  readonly clock: Clock
  readonly log: CallLog
  readonly faults: FaultScript
  /** Refuse calls without a token that this fake has issued. */
  readonly requireToken: boolean
}

/** One call while it is being answered. */
interface OpenCall {
  readonly call: RecordedCall
  readonly request: Request
  readonly response: ServerResponse
}

const json = 'application/json; charset=utf-8'
const garbage = '<html><body>The service is warming up'

/** Takes one call from its arrival to its end, through latency, buckets and whatever fault was injected. */
export class CallHandler {
  readonly #parts: CallHandlerParts
  readonly #held = new Set<() => void>()
  readonly #landing = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  latencyMs = 0
  onCall: ((call: RecordedCall) => void | Promise<void>) | undefined

  constructor(parts: CallHandlerParts) {
    this.#parts = parts
  }

  async handle(incoming: IncomingMessage, response: ServerResponse, request: Request): Promise<void> {
    const { cloud, clock, log, faults } = this.#parts
    const call = recordOf(incoming, request, clock.wallMs())
    log.open(call)
    response.once('close', () => log.close(call, 'lost', clock.wallMs()))
    const open: OpenCall = { call, request, response }
    try {
      await this.onCall?.(call)
      const fault = faults.take(call)
      this.#checkToken(call)
      cloud.admit(request.route)
      await this.#undergo(fault, open)
    } catch (error) {
      await this.#refuse(error, open)
    }
  }

  /** Lets all calls that hang now go their ordinary way. */
  release(): void {
    for (const release of this.#held) release()
  }

  /** Resolves when every late write has taken effect. */
  async landed(): Promise<void> {
    await Promise.all(this.#landing)
  }

  /** No pause lasts and no late write lands from now on. */
  stop(): void {
    this.#stopping.abort()
  }

  #checkToken({ authorization, operation }: RecordedCall): void {
    const { clock, cloud, requireToken } = this.#parts
    if (operation === 'Token' || operation === 'OpenIdConfiguration') return
    const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1]
    if (token === undefined) throw new ArmFault(401, 'AuthenticationFailed', 'The Authorization header is missing.')
    if (requireToken && !cloud.tokens.isValid(token, clock.wallMs())) {
      throw new ArmFault(401, 'ExpiredAuthenticationToken', 'The access token has expired or is not valid.')
    }
  }

  async #undergo(fault: Fault | undefined, open: OpenCall): Promise<void> {
    if (fault?.kind === 'hang' && !(await this.#hold(open.response))) return
    await this.#pause(this.latencyMs + (fault?.kind === 'slow' ? fault.byMs : 0))
    await this.#end(fault, open)
  }

  #end(fault: Fault | undefined, open: OpenCall): Promise<void> | undefined {
    switch (fault?.kind) {
      case 'throttle':
        throw tooManyRequests(open.request.route.bucket ?? 'writes', fault.retryAfterSeconds)
      case 'error':
        return this.#fail(fault, open)
      case 'drop':
        open.response.destroy()
        return undefined
      case 'lost-answer':
        return this.#loseAnswer(fault, open)
      case 'late-write':
        return this.#writeLate(fault, open)
      case 'garbage':
        return this.#answerGarbage(fault, open)
      case 'hang':
      case 'slow':
      case undefined:
        return this.#succeed(open, this.#carryOut(open))
      default:
        return fault satisfies never
    }
  }

  #fail({ code, message, status = 400 }: Extract<Fault, { kind: 'error' }>, open: OpenCall): Promise<void> {
    if (code !== undefined) throw new ArmFault(status, code, message ?? `${code} was asked for`)
    return this.#answer(open, { outcome: `HTTP ${status}`, status, type: 'text/html', body: message ?? garbage })
  }

  #answerGarbage({ body = garbage }: Extract<Fault, { kind: 'garbage' }>, open: OpenCall): Promise<void> {
    this.#carryOut(open)
    return this.#answer(open, { outcome: 'ok', status: 200, type: 'text/html', body })
  }

  async #loseAnswer(fault: Extract<Fault, { kind: 'lost-answer' }>, open: OpenCall): Promise<void> {
    const accepted = this.#carryOut(open)
    if (fault.how !== 'hang') open.response.destroy()
    else if (await this.#hold(open.response)) await this.#succeed(open, accepted)
  }

  async #writeLate(fault: Extract<Fault, { kind: 'late-write' }>, open: OpenCall): Promise<void> {
    const accepted = this.#parts.cloud.accept(open.request)
    const landing = this.#pause(fault.landsAfterMs).then(() => {
      this.#landing.delete(landing)
      if (!this.#stopping.signal.aborted) accepted.effect?.()
    })
    this.#landing.add(landing)
    if (await this.#hold(open.response)) await this.#succeed(open, accepted)
  }

  #carryOut({ request }: OpenCall): AcceptedCall {
    const accepted = this.#parts.cloud.accept(request)
    accepted.effect?.()
    return accepted
  }

  async #succeed(open: OpenCall, { answer, headers = {}, status }: AcceptedCall): Promise<void> {
    for (const [name, value] of Object.entries(headers)) open.response.setHeader(name, value)
    await this.#answer(open, { outcome: 'ok', status, type: json, body: JSON.stringify(answer) })
  }

  async #refuse(error: unknown, open: OpenCall): Promise<void> {
    const fault = error instanceof ArmFault ? error : new ArmFault(500, 'InternalServerError', String(error))
    const { code, headers, message, status } = fault
    if (!open.response.headersSent) {
      for (const [name, value] of Object.entries(headers)) open.response.setHeader(name, value)
    }
    await this.#answer(open, { outcome: code, status, type: json, body: errorBody(open, code, message) })
  }

  async #answer(
    { call, request, response }: OpenCall,
    { outcome, ...answer }: { outcome: string; status: number; type: string; body: string },
  ): Promise<void> {
    const { cloud, clock, log } = this.#parts
    log.close(call, outcome, clock.wallMs())
    if (response.destroyed) return
    const common = { 'x-ms-request-id': randomUUID(), ...cloud.headers(request.route) }
    for (const [name, value] of Object.entries(common)) response.setHeader(name, value)
    await send(response, answer)
  }

  /** True when released; false when the client or the server has gone. */
  #hold(response: ServerResponse): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (released: boolean) => {
        this.#held.delete(release)
        response.off('close', gone)
        resolve(released)
      }
      const release = () => finish(true)
      const gone = () => finish(false)
      this.#held.add(release)
      if (response.destroyed) gone()
      else response.once('close', gone)
    })
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await pause(this.#parts.clock, ms, this.#stopping.signal)
  }
}

/** ARM's form; Entra ID has its own, and Resource Graph hides the reason inside. */
function errorBody({ request }: OpenCall, code: string, message: string): string {
  const { operation } = request.route
  if (operation === 'Token') return JSON.stringify({ error: code, error_description: message, error_codes: [7000218] })
  const reason = / (\w+)$/.exec(message)?.[1]
  const details =
    operation === 'QueryResources' && code === 'BadRequest' ? { details: [{ code: reason, message }] } : {}
  return JSON.stringify({ error: { code, message, ...details } })
}

function recordOf(incoming: IncomingMessage, { route, url, body }: Request, atMs: number): RecordedCall {
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
