import type { IncomingMessage, ServerResponse } from 'node:http'
import { pause, type Clock } from '../../src/runtime/clock.ts'
import { send } from '../ec2/http.ts'
import type { CallLog, RecordedCall } from './call-log.ts'
import type { AcceptedCall, DiskActions } from './disk-actions.ts'
import type { Fault, FaultScript } from './faults.ts'
import type { Identity } from './identity.ts'
import { ComputeRefusal, internal, rateLimitExceeded, unauthenticated, type ComputeRequest } from './wire.ts'

export interface CallHandlerParts {
  readonly actions: DiskActions
  readonly identity: Identity
  readonly clock: Clock
  readonly log: CallLog
  readonly faults: FaultScript
  readonly requireToken: boolean
}

/** One call while it is being answered. */
interface OpenCall {
  readonly call: RecordedCall
  readonly request: ComputeRequest
  readonly response: ServerResponse
  /** Checks the call now; throws ComputeRefusal. */
  readonly accept: () => AcceptedCall
}

const json = 'application/json; charset=UTF-8'
const garbage = '<html><title>Error 502 (Server Error)!!1</title>'

/** Takes one call from its arrival to its end, through latency, quota and whatever fault was injected. */
export class CallHandler {
  readonly #parts: CallHandlerParts
  readonly #held = new Set<() => void>()
  readonly #landing = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  latencyMs = 0
  errorDetails = true
  onCall: ((call: RecordedCall) => void | Promise<void>) | undefined

  constructor(parts: CallHandlerParts) {
    this.#parts = parts
  }

  async handle(incoming: IncomingMessage, response: ServerResponse, request: ComputeRequest): Promise<void> {
    const { actions, clock, faults, log } = this.#parts
    const call = recordOf(incoming, request, clock.wallMs())
    log.open(call)
    response.once('close', () => log.close(call, 'lost', clock.wallMs()))
    const open: OpenCall = { call, request, response, accept: () => actions.accept(request) }
    try {
      await this.onCall?.(call)
      const fault = faults.take(call)
      this.#checkToken(call)
      actions.admit(request)
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

  #checkToken({ authorization }: RecordedCall): void {
    const { identity, requireToken } = this.#parts
    if (requireToken && !identity.isValid(authorization)) throw unauthenticated()
  }

  async #undergo(fault: Fault | undefined, open: OpenCall): Promise<void> {
    if (fault?.kind === 'hang' && !(await this.#hold(open.response))) return
    await this.#pause(this.latencyMs + (fault?.kind === 'slow' ? fault.byMs : 0))
    await this.#end(fault, open)
  }

  #end(fault: Fault | undefined, open: OpenCall): Promise<void> | undefined {
    switch (fault?.kind) {
      case 'throttle':
      case 'error':
        throw refusalOf(fault)
      case 'drop':
        open.response.destroy()
        return undefined
      case 'lost-answer':
        return this.#loseAnswer(fault, open)
      case 'late-write':
        return this.#writeLate(fault, open)
      case 'garbage':
        return this.#babble(fault, open)
      case 'failed-operation':
        return this.#succeed(open, this.#parts.actions.operationJson(open.request, fault))
      case 'hang':
      case 'slow':
      case undefined:
        return this.#succeed(open, carryOut(open))
      default:
        return fault satisfies never
    }
  }

  async #loseAnswer(fault: Extract<Fault, { kind: 'lost-answer' }>, open: OpenCall): Promise<void> {
    const answer = carryOut(open)
    if (fault.how !== 'hang') open.response.destroy()
    else if (await this.#hold(open.response)) await this.#succeed(open, answer)
  }

  async #writeLate(fault: Extract<Fault, { kind: 'late-write' }>, open: OpenCall): Promise<void> {
    const { answer, effect } = open.accept()
    const landing = this.#pause(fault.landsAfterMs).then(() => {
      this.#landing.delete(landing)
      if (!this.#stopping.signal.aborted) effect?.()
    })
    this.#landing.add(landing)
    if (await this.#hold(open.response)) await this.#succeed(open, answer)
  }

  #babble({ body = garbage, status }: Extract<Fault, { kind: 'garbage' }>, open: OpenCall): Promise<void> {
    carryOut(open)
    return this.#succeed(open, body, status)
  }

  async #succeed({ call, response }: OpenCall, answer: string, status = 200): Promise<void> {
    this.#parts.log.close(call, 'ok', this.#parts.clock.wallMs())
    await send(response, { status, type: json, body: answer })
  }

  async #refuse(error: unknown, { call, response }: OpenCall): Promise<void> {
    const refusal = error instanceof ComputeRefusal ? error : internal(String(error))
    const { retryAfterSeconds, status } = refusal.options
    this.#parts.log.close(call, refusal.outcome, this.#parts.clock.wallMs())
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds)
    await send(response, { status, type: json, body: refusal.body(this.errorDetails) })
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

function refusalOf(fault: Extract<Fault, { kind: 'throttle' | 'error' }>): ComputeRefusal {
  if (fault.kind === 'throttle') return rateLimitExceeded(fault.retryAfterSeconds)
  return new ComputeRefusal(fault.message ?? `${fault.reason} was asked for`, fault)
}

function carryOut(open: OpenCall): string {
  const { answer, effect } = open.accept()
  effect?.()
  return answer
}

function recordOf({ headers, method, url }: IncomingMessage, request: ComputeRequest, atMs: number): RecordedCall {
  const { body, fields, operation, parent, resource } = request
  return {
    atMs,
    operation,
    method: method ?? '',
    path: url ?? '',
    disk: resource === undefined || operation.includes('Operations.') ? undefined : `${parent}/disks/${resource}`,
    body,
    fieldMask: fields,
    authorization: headers.authorization,
    outcome: undefined,
    endedAtMs: undefined,
  }
}
