import type { IncomingMessage, ServerResponse } from 'node:http'
import { pause, type Clock } from '../../src/runtime/clock.ts'
import type { LoggedCall } from './call-log.ts'
import { commonFaults, type CommonFault } from './faults.ts'
import { send, type HttpAnswer } from './http.ts'

/** A call that passed every check. `effect` has not happened yet. */
export interface AcceptedCall {
  readonly effect?: (() => void) | undefined
  readonly answer: HttpAnswer
}

/** An answer, and how the log shows its outcome. */
export interface Refusal {
  readonly outcome: string
  readonly answer: HttpAnswer
}

/** What one cloud does with a call, below the frame that all fakes share. */
export interface CloudService<Request, Call extends LoggedCall, OwnFault extends { readonly kind: string }> {
  record(incoming: IncomingMessage, request: Request, atMs: number): Call
  /** Throws where the credentials, or the quota that it takes from, do not suffice. */
  admit(incoming: IncomingMessage, request: Request): void
  /** Checks the call now; throws what `refusal` can word. */
  accept(request: Request): AcceptedCall
  refusal(error: unknown, request: Request): Refusal
  /** What a call over the limit is refused with. */
  throttled(request: Request, retryAfterSeconds: number | undefined): unknown
  /** A fault that only this cloud knows: its answer, or it throws what `refusal` can word. */
  suffer(fault: OwnFault, request: Request): Refusal
  /** What cannot be read, in whatever form this cloud's answers have. */
  readonly garbage: HttpAnswer
}

export interface CallHandlerParts<Request, Call extends LoggedCall, OwnFault extends { readonly kind: string }> {
  readonly service: CloudService<Request, Call, OwnFault>
  readonly clock: Clock
  readonly log: { readonly open: (call: Call) => void; readonly close: (call: Call, outcome: string) => void }
  readonly takeFault: (call: Call) => CommonFault | OwnFault | undefined
}

/** One call while it is being answered. */
interface OpenCall<Request, Call> {
  readonly call: Call
  readonly request: Request
  readonly response: ServerResponse
}

/** Takes one call from its arrival to its end, through latency, limits and whatever fault was injected. */
export class CallHandler<Request, Call extends LoggedCall, OwnFault extends { readonly kind: string }> {
  readonly #parts: CallHandlerParts<Request, Call, OwnFault>
  readonly #held = new Set<() => void>()
  readonly #landing = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  latencyMs = 0
  onCall: ((call: Call) => void | Promise<void>) | undefined

  constructor(parts: CallHandlerParts<Request, Call, OwnFault>) {
    this.#parts = parts
  }

  async handle(incoming: IncomingMessage, response: ServerResponse, request: Request): Promise<void> {
    const { clock, log, service, takeFault } = this.#parts
    const call = service.record(incoming, request, clock.wallMs())
    log.open(call)
    response.once('close', () => log.close(call, 'lost'))
    const open = { call, request, response }
    try {
      await this.onCall?.(call)
      const fault = takeFault(call)
      service.admit(incoming, request)
      await this.#undergo(fault, open)
    } catch (error) {
      await this.#answer(open, service.refusal(error, request))
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

  async #undergo(fault: CommonFault | OwnFault | undefined, open: OpenCall<Request, Call>): Promise<void> {
    if (fault !== undefined && !isCommon(fault)) {
      await this.#pause(this.latencyMs)
      await this.#answer(open, this.#parts.service.suffer(fault, open.request))
      return
    }
    if (fault?.kind === 'hang' && !(await this.#hold(open.response))) return
    await this.#pause(this.latencyMs + (fault?.kind === 'slow' ? fault.byMs : 0))
    await this.#end(fault, open)
  }

  #end(fault: CommonFault | undefined, open: OpenCall<Request, Call>): Promise<void> | undefined {
    switch (fault?.kind) {
      case 'throttle':
        throw this.#parts.service.throttled(open.request, fault.retryAfterSeconds)
      case 'drop':
        open.response.destroy()
        return undefined
      case 'lost-answer':
        return this.#loseAnswer(fault, open)
      case 'late-write':
        return this.#writeLate(fault, open)
      case 'garbage':
        return this.#babble(fault, open)
      case 'hang':
      case 'slow':
      case undefined:
        return this.#succeed(open, this.#carryOut(open))
      default:
        return fault satisfies never
    }
  }

  async #loseAnswer(
    fault: Extract<CommonFault, { kind: 'lost-answer' }>,
    open: OpenCall<Request, Call>,
  ): Promise<void> {
    const answer = this.#carryOut(open)
    if (fault.how !== 'hang') open.response.destroy()
    else if (await this.#hold(open.response)) await this.#succeed(open, answer)
  }

  async #writeLate(fault: Extract<CommonFault, { kind: 'late-write' }>, open: OpenCall<Request, Call>): Promise<void> {
    const { answer, effect } = this.#parts.service.accept(open.request)
    const landing = this.#pause(fault.landsAfterMs).then(() => {
      this.#landing.delete(landing)
      if (!this.#stopping.signal.aborted) effect?.()
    })
    this.#landing.add(landing)
    if (await this.#hold(open.response)) await this.#succeed(open, answer)
  }

  #babble({ body, status }: Extract<CommonFault, { kind: 'garbage' }>, open: OpenCall<Request, Call>): Promise<void> {
    const { garbage } = this.#parts.service
    this.#carryOut(open)
    return this.#succeed(open, { ...garbage, body: body ?? garbage.body, status: status ?? garbage.status })
  }

  #carryOut({ request }: OpenCall<Request, Call>): HttpAnswer {
    const { answer, effect } = this.#parts.service.accept(request)
    effect?.()
    return answer
  }

  #succeed(open: OpenCall<Request, Call>, answer: HttpAnswer): Promise<void> {
    return this.#answer(open, { outcome: 'ok', answer })
  }

  async #answer({ call, response }: OpenCall<Request, Call>, { answer, outcome }: Refusal): Promise<void> {
    this.#parts.log.close(call, outcome)
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

function isCommon(fault: { readonly kind: string }): fault is CommonFault {
  return fault.kind === 'throttle' || Object.hasOwn(commonFaults, fault.kind)
}
