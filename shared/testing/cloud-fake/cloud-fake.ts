// What the fakes of all clouds have in common: a server on loopback, latency, faults of single calls, and a log of what
// was called. A cloud's own fake adds its disks, its conditions and its language.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { CallHandler, type CloudService } from './call-handler.ts'
import { CallLog, type CallCount, type CallLogOptions, type LoggedCall } from './call-log.ts'
import { FaultScript, type CommonFault, type InjectedFault } from './faults.ts'
import { readBody, type HttpAnswer } from './http.ts'

export interface CloudFakeOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number
  /** 127.0.0.1 where it is missing. */
  readonly host?: string
  /** Every answer takes this long; a write takes effect at its end. */
  readonly latencyMs?: number
  /** For latency, limits, lag and late writes. */
  readonly clock?: Clock
  /** How many calls the log remembers. */
  readonly logLimit?: number
  /** PEM; it speaks TLS where they are given. */
  readonly tls?: { readonly cert: string; readonly key: string }
}

/** A request of which all has arrived. */
export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly body: string
}

/** Answers paths that are not the cloud's own; undefined for those it does not know. */
export type ExtraRoute = (request: HttpRequest) => HttpAnswer | undefined

export interface CloudFakeParts<
  Request,
  Call extends LoggedCall,
  Count extends CallCount,
  OwnFault extends { readonly kind: string },
  Scope extends { readonly times?: number },
> {
  readonly service: CloudService<Request, Call, OwnFault>
  readonly log: Omit<CallLogOptions<Call, Count>, 'limit'>
  /** Whether a fault injected with this scope hits this call. */
  readonly hits: (scope: Scope, call: Call) => boolean
}

export abstract class CloudFake<
  Request,
  Call extends LoggedCall,
  Count extends CallCount,
  OwnFault extends { readonly kind: string },
  Scope extends { readonly times?: number },
> {
  readonly #options: CloudFakeOptions
  readonly #log: CallLog<Call, Count>
  readonly #faults: FaultScript<CommonFault | OwnFault, Scope, Call>
  readonly #handler: CallHandler<Request, Call, OwnFault>
  readonly #server: Server
  extraRoute: ExtraRoute | undefined

  protected constructor(options: CloudFakeOptions, parts: CloudFakeParts<Request, Call, Count, OwnFault, Scope>) {
    const clock = options.clock ?? systemClock
    this.#options = options
    this.#log = new CallLog({ ...parts.log, limit: options.logLimit ?? 1000 })
    this.#faults = new FaultScript(parts.hits)
    this.#handler = new CallHandler({
      service: parts.service,
      clock,
      log: {
        open: (call) => this.#log.open(call),
        close: (call, outcome) => this.#log.close(call, outcome, clock.wallMs()),
      },
      takeFault: (call) => this.#faults.take(call),
    })
    this.#handler.latencyMs = options.latencyMs ?? 0
    const serve = (incoming: IncomingMessage, response: ServerResponse) => void this.#serve(incoming, response)
    this.#server = options.tls === undefined ? createServer(serve) : createTlsServer(options.tls, serve)
    // Longer than any client keeps an idle connection, or a reused one may be cut under a request.
    this.#server.keepAliveTimeout = 120_000
  }

  protected async listen(): Promise<this> {
    const { host = '127.0.0.1', port = 0 } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, resolve)
    })
    return this
  }

  /** Answers a request, by `handle` where it is a call that counts. */
  protected abstract route(incoming: IncomingMessage, response: ServerResponse, request: HttpRequest): Promise<void>

  protected handle(incoming: IncomingMessage, response: ServerResponse, request: Request): Promise<void> {
    return this.#handler.handle(incoming, response, request)
  }

  /** For a client's endpoint. */
  get url(): string {
    return `${this.#options.tls === undefined ? 'http' : 'https'}://${this.host}`
  }

  /** With its port. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Cuts every connection, also of calls that hang; late writes that are still under way never land. */
  async close(): Promise<void> {
    this.#handler.stop()
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  set latencyMs(ms: number) {
    this.#handler.latencyMs = ms
  }

  // Faults of single calls.

  /** Where the scope says no `times`, it hits one call. */
  inject(fault: CommonFault | OwnFault, scope?: Scope): InjectedFault {
    return this.#faults.add(fault, scope ?? ({} as Scope))
  }

  clearFaults(): void {
    this.#faults.clear()
  }

  /** Lets all calls that hang now go their ordinary way. */
  release(): void {
    this.#handler.release()
  }

  /** Resolves when every late write has taken effect. */
  landed(): Promise<void> {
    return this.#handler.landed()
  }

  // What was called.

  /** Heard when a call has arrived and before anything happened; what it returns is awaited. */
  set onCall(listener: ((call: Call) => void | Promise<void>) | undefined) {
    this.#handler.onCall = listener
  }

  count(name: string): Readonly<Count> {
    return { ...this.#log.count(name) }
  }

  counts(): Record<string, Count> {
    return this.#log.counts()
  }

  /** The last calls, oldest first. */
  calls(name?: string): readonly Call[] {
    return this.#log.recent(name)
  }

  /** Resolves when the next such call arrives. */
  nextCall(name?: string): Promise<Call> {
    return this.#log.next(name)
  }

  get inFlight(): number {
    return this.#log.inFlight
  }

  get inFlightMax(): number {
    return this.#log.inFlightMax
  }

  /** Forgets counts and log; disks, faults and conditions stay. */
  resetCounts(): void {
    this.#log.reset()
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming)
    if (body === undefined) return
    const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host ?? 'fake'}`)
    await this.route(incoming, response, { method: incoming.method ?? 'GET', url, body })
  }
}
