import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'

/** A reason why a check fails, for people; undefined where it does not. */
export type Check = () => string | undefined

export interface HealthServerOptions {
  readonly address: string
  readonly port: number
  readonly registry: Registry
  /** Fails where only a restart can help. */
  readonly live: readonly Check[]
  /** Fails where this process should not be called. A cloud's trouble is neither. */
  readonly ready: readonly Check[]
  /** Brings gauges up to date before they are read. */
  readonly beforeScrape: () => void
}

/** `/healthz`, `/readyz` and `/metrics` on plain HTTP. */
export class HealthServer {
  readonly #server: Server
  readonly #options: HealthServerOptions

  constructor(options: HealthServerOptions) {
    this.#options = options
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  /** Resolves to the port, once it listens. Rejects where it cannot. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#options.port, this.#options.address, () => {
        resolve((this.#server.address() as AddressInfo).port)
      })
    })
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume()
    const path = request.url?.split('?', 1)[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, 'use GET\n')
    switch (path) {
      case '/healthz':
        return sendChecks(response, this.#options.live)
      case '/readyz':
        return sendChecks(response, this.#options.ready)
      case '/metrics':
        this.#options.beforeScrape()
        response.setHeader('content-type', this.#options.registry.contentType)
        return send(response, 200, await this.#options.registry.metrics())
      case undefined:
      default:
        return send(response, 404, 'here are /healthz, /readyz and /metrics\n')
    }
  }
}

function sendChecks(response: ServerResponse, checks: readonly Check[]): void {
  const problems = checks.map((check) => check()).filter((problem) => problem !== undefined)
  if (problems.length === 0) send(response, 200, 'ok\n')
  else send(response, 503, `${problems.join('\n')}\n`)
}

function send(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.end(body)
}
