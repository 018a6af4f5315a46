import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pause, type Clock } from '../../src/runtime/clock.ts'
import { requestLimitExceeded, stsActions, type AcceptedCall, type Ec2Account } from './account.ts'
import type { CallLog, RecordedCall } from './call-log.ts'
import type { Fault, FaultScript } from './faults.ts'
import { send } from './http.ts'
import { checkSignature } from './signature.ts'
import { AwsFault, CallParameters, ec2Error, stsError } from './wire.ts'

export interface CallHandlerParts {
  readonly account: Ec2Account
  readonly clock: Clock
  readonly log: CallLog
  readonly faults: FaultScript
  /** The region that signatures must be made for; undefined where calls need none. */
  readonly signatureRegion: string | undefined
}

/** One call while it is being answered. */
interface OpenCall {
  readonly call: RecordedCall
  readonly response: ServerResponse
  readonly requestId: string
  /** Checks the call now; throws AwsFault. */
  readonly accept: () => AcceptedCall
}

const xml = 'text/xml;charset=UTF-8'
const garbage = '<html><body>Service is warming up'

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

  async handle(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const { account, clock, log, faults } = this.#parts
    const parameters = new CallParameters(body)
    const call = recordOf(parameters, clock.wallMs())
    const requestId = randomUUID()
    log.open(call)
    response.once('close', () => log.close(call, 'lost', clock.wallMs()))
    const accept = () => account.accept(call.action, parameters, requestId)
    const open: OpenCall = { call, response, requestId, accept }
    try {
      await this.onCall?.(call)
      const fault = faults.take(call)
      this.#checkSignature(call.action, request, body)
      account.admit(call.action, parameters)
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

  #checkSignature(action: string, { method, url, headers }: IncomingMessage, body: string): void {
    const { signatureRegion, account, clock } = this.#parts
    // A web identity is exchanged by a program that has no key yet.
    if (signatureRegion === undefined || action === 'AssumeRoleWithWebIdentity') return
    checkSignature(
      { method: method ?? '', url: url ?? '/', headers, body },
      {
        service: stsActions.has(action) ? 'sts' : 'ec2',
        region: signatureRegion,
        nowMs: clock.wallMs(),
        secretOf: (accessKeyId, sessionToken) => account.credentials.secretOf(accessKeyId, sessionToken),
      },
    )
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
        throw refusalOf(fault, open)
      case 'drop':
        open.response.destroy()
        return undefined
      case 'lost-answer':
        return this.#loseAnswer(fault, open)
      case 'late-write':
        return this.#writeLate(fault, open)
      case 'garbage':
        carryOut(open)
        return this.#succeed(open, fault.body ?? garbage)
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
    const { effect, answer } = open.accept()
    const landing = this.#pause(fault.landsAfterMs).then(() => {
      this.#landing.delete(landing)
      if (!this.#stopping.signal.aborted) effect?.()
    })
    this.#landing.add(landing)
    if (await this.#hold(open.response)) await this.#succeed(open, answer)
  }

  async #succeed({ call, response }: OpenCall, answer: string | Iterable<string>): Promise<void> {
    this.#parts.log.close(call, 'ok', this.#parts.clock.wallMs())
    await send(response, { status: 200, type: xml, body: answer })
  }

  async #refuse(error: unknown, { call, response, requestId }: OpenCall): Promise<void> {
    const refusal = error instanceof AwsFault ? error : new AwsFault('InternalError', String(error), 500)
    this.#parts.log.close(call, refusal.code, this.#parts.clock.wallMs())
    const body = stsActions.has(call.action) ? stsError(refusal, requestId) : ec2Error(refusal, requestId)
    await send(response, { status: refusal.status, type: xml, body })
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

function refusalOf(fault: Extract<Fault, { kind: 'throttle' | 'error' }>, { response }: OpenCall): AwsFault {
  if (fault.kind === 'error') {
    return new AwsFault(fault.code, fault.message ?? `${fault.code} was asked for`, fault.status ?? 400)
  }
  if (fault.retryAfterSeconds !== undefined) response.setHeader('Retry-After', fault.retryAfterSeconds)
  return requestLimitExceeded()
}

function carryOut(open: OpenCall): string | Iterable<string> {
  const { effect, answer } = open.accept()
  effect?.()
  return answer
}

const idFilters: ReadonlySet<string | undefined> = new Set(['volume-id', 'resource-id'])

function recordOf(parameters: CallParameters, atMs: number): RecordedCall {
  const filtered = parameters
    .structures('Filter')
    .filter((members) => idFilters.has(members.get('Name')))
    .flatMap((members) => [...members].filter(([member]) => member.startsWith('Value.')).map(([, value]) => value))
  return {
    atMs,
    action: parameters.get('Action') ?? '',
    ids: [...parameters.list('ResourceId'), ...parameters.list('VolumeId'), ...filtered],
    parameters: parameters.summary(),
    outcome: undefined,
    endedAtMs: undefined,
  }
}
