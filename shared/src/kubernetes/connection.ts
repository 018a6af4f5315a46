import { Agent, type Dispatcher, request as sendRequest } from 'undici'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { answerError, connectionError } from './api-errors.ts'
import { jsonPatchType, withQuery, type ApiRequest, type ApiTransport } from './api-request.ts'
import { ClusterCredentials, type Credentials, type LoadKubeConfig } from './credentials.ts'
import { KubernetesError, type KubernetesErrorKind } from './kubernetes-error.ts'

export interface ClusterConnectionOptions {
  readonly load: LoadKubeConfig
  /** The program's version, for the User-Agent. */
  readonly version: string
  readonly clock: Clock
  readonly logger: Logger
  /** Default 10,000 ms for a call, connecting and reading the answer included. */
  readonly timeoutMs?: number
  /** Default 40: the calls that the gate lets through, and the watches beside them. */
  readonly maxConnections?: number
  /** Told about every call that ended, for metrics. A watch ends here when it was opened. */
  readonly onCall?: (call: FinishedCall) => void
}

export interface FinishedCall {
  readonly method: ApiRequest['method'] | 'WATCH'
  readonly outcome: 'ok' | KubernetesErrorKind
  readonly durationMs: number
}

type Answer = Dispatcher.ResponseData

/**
 * One API server behind one pool of kept-alive connections. The library loads the configuration and authenticates; the
 * requests are undici's own, since its generated client opens a TLS connection a call and spends twice the CPU on
 * turning JSON into instances. Proxies from the environment or the kubeconfig are not used.
 */
export class ClusterConnection implements ApiTransport {
  readonly #options: ClusterConnectionOptions
  readonly #credentials: ClusterCredentials
  readonly #userAgent: string
  #agent: Agent | undefined
  #agentFingerprint = ''

  constructor(options: ClusterConnectionOptions) {
    this.#options = options
    this.#credentials = new ClusterCredentials(options)
    this.#userAgent = `k8s-cloud-tagger/${options.version}`
  }

  async send(request: ApiRequest): Promise<unknown> {
    return this.#observed(request.method, async () => {
      const limit = this.#limit(request)
      try {
        const answer = await this.#open(request, limit.signal)
        return JSON.parse(await answer.body.text()) as unknown
      } catch (error) {
        throw connectionError(error)
      } finally {
        limit.release()
      }
    })
  }

  async openStream(request: ApiRequest): Promise<AsyncIterable<Uint8Array>> {
    return this.#observed('WATCH', async () => {
      const limit = this.#limit(request)
      try {
        const answer = await this.#open(request, limit.signal)
        limit.stopTimer()
        // Whoever iterates sees the error; without a listener an abort before that would end the process.
        answer.body.on('error', () => {})
        return chunksOf(answer, limit)
      } catch (error) {
        limit.release()
        throw connectionError(error)
      }
    })
  }

  /** Cuts every connection. Calls in flight end with 'unavailable'. */
  async close(): Promise<void> {
    const agent = this.#agent
    this.#agent = undefined
    await agent?.destroy()
  }

  async #open(request: ApiRequest, signal: AbortSignal): Promise<Answer> {
    const credentials = await unlessAborted(this.#credentials.current(), signal)
    const answer = await this.#dispatch(request, credentials, signal)
    if (answer.statusCode < 300) return answer
    const error = await this.#errorOf(request, answer)
    // Nothing was done on a 401, so that another try is safe for every method.
    if (answer.statusCode !== 401 || !(await unlessAborted(this.#credentials.renew(credentials), signal))) throw error

    const second = await this.#dispatch(request, await this.#credentials.current(), signal)
    if (second.statusCode < 300) return second
    throw await this.#errorOf(request, second)
  }

  #dispatch(request: ApiRequest, credentials: Credentials, signal: AbortSignal): Promise<Answer> {
    return sendRequest(credentials.server + withQuery(request.path, request.query), {
      dispatcher: this.#agentFor(credentials),
      method: request.method,
      headers: {
        accept: 'application/json',
        'user-agent': this.#userAgent,
        ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
        ...credentials.headers,
      },
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal,
    })
  }

  #agentFor(credentials: Credentials): Agent {
    if (this.#agent !== undefined && this.#agentFingerprint === credentials.tlsFingerprint) return this.#agent
    // The old one lets its calls end by themselves.
    this.#agent?.close().catch((error: unknown) => {
      this.#options.logger.debug({ err: error }, 'connections with former credentials did not close cleanly')
    })
    this.#agentFingerprint = credentials.tlsFingerprint
    this.#agent = new Agent({
      connections: this.#options.maxConnections ?? 40,
      // undici 8 negotiates HTTP/2 by itself. There, one half-open connection would hold up every call, and a call's
      // time-out could not cut it.
      allowH2: false,
      // Below the 90 s after which the API server closes an idle connection, so that no call meets that moment.
      keepAliveTimeout: 30_000,
      // Every call and watch has its own limit, by our clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { ...credentials.tls, timeout: 5_000, keepAlive: true, keepAliveInitialDelay: 30_000 },
    })
    return this.#agent
  }

  async #errorOf(request: ApiRequest, answer: Answer): Promise<KubernetesError> {
    const retryAfter = answer.headers['retry-after']
    return answerError({
      status: answer.statusCode,
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
      body: await answer.body.text(),
      jsonPatch: request.contentType === jsonPatchType,
      nowWallMs: this.#options.clock.wallMs(),
    })
  }

  #limit(request: ApiRequest): CallLimit {
    return limitCall(this.#options.clock, request.timeoutMs ?? this.#options.timeoutMs ?? 10_000, request.signal)
  }

  async #observed<T>(method: FinishedCall['method'], call: () => Promise<T>): Promise<T> {
    const startMs = this.#options.clock.monotonicMs()
    const ended = (outcome: FinishedCall['outcome']) =>
      this.#options.onCall?.({ method, outcome, durationMs: this.#options.clock.monotonicMs() - startMs })
    try {
      const result = await call()
      ended('ok')
      return result
    } catch (error) {
      ended(error instanceof KubernetesError ? error.kind : 'unavailable')
      throw error
    }
  }
}

/** A credential plugin may hang; the call's limit counts all the same. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason as Error)
    signal.addEventListener('abort', giveUp, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}

interface CallLimit {
  readonly signal: AbortSignal
  /** The time-out no longer counts; the caller's signal still does. */
  stopTimer(): void
  release(): void
}

function limitCall(clock: Clock, timeoutMs: number, outer: AbortSignal): CallLimit {
  const controller = new AbortController()
  const giveUp = () => {
    controller.abort(new KubernetesError('unavailable', 'call to the API server given up', { cause: outer.reason }))
  }
  const timer = clock.setTimer(timeoutMs, () => {
    controller.abort(new KubernetesError('unavailable', `no answer from the API server within ${timeoutMs} ms`))
  })
  if (outer.aborted) giveUp()
  else outer.addEventListener('abort', giveUp, { once: true })
  return {
    signal: controller.signal,
    stopTimer: () => timer.cancel(),
    release() {
      timer.cancel()
      outer.removeEventListener('abort', giveUp)
    },
  }
}

async function* chunksOf(answer: Answer, limit: CallLimit): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of answer.body) yield chunk as Uint8Array
  } catch (error) {
    throw connectionError(error)
  } finally {
    limit.release()
    answer.body.destroy()
  }
}
