import express from 'express'
import type { NextFunction, Request, Response } from 'express'
import { createServer } from 'node:https'
import type { Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { CertificatePair } from '../tls/certificate-pair.ts'
import { sendError } from '../admission/handler.ts'

/**
 * Go's client keeps an idle connection for 90 s and does not repeat a POST that a closing server cut off, so ours must
 * outlast it.
 */
const keepAliveTimeoutMs = 120_000
/** From the first byte to the last of a request: the API server gives up after `timeoutSeconds`, 2 in our configuration. */
const requestTimeoutMs = 15_000
/** How often Node looks for requests whose time is up. */
const timeoutCheckMs = 5_000

export interface AdmissionServerOptions {
  readonly address: string
  readonly port: number
  readonly pair: CertificatePair
  /** What answers a POST, by its path. */
  readonly handlers: Readonly<Record<string, (request: Request, response: Response) => Promise<void>>>
  /** Told of what came to the wrong place. */
  readonly onRefused: (outcome: 'wrong-path' | 'wrong-method') => void
  /** Default 15,000 ms from the first byte of a request to its last. */
  readonly requestTimeoutMs?: number
}

/** The TLS server that the API server calls. Certificates are exchanged in place: no connection is cut for one. */
export class AdmissionServer {
  readonly #server: Server
  readonly #options: AdmissionServerOptions
  /** Connections by the certificate generation of their handshake. */
  readonly #generations = new WeakMap<Socket, number>()
  #generation = 0
  #draining = false

  constructor(options: AdmissionServerOptions) {
    this.#options = options
    const { cert, key } = options.pair
    const timeoutMs = options.requestTimeoutMs ?? requestTimeoutMs
    const connectionsCheckingInterval = Math.min(timeoutCheckMs, timeoutMs)
    this.#server = createServer({ cert, key, minVersion: 'TLSv1.2', connectionsCheckingInterval }, this.#app())
    this.#server.keepAliveTimeout = keepAliveTimeoutMs
    this.#server.requestTimeout = timeoutMs
    // Where it is the larger of the two, Node takes it for the limit of the whole request.
    this.#server.headersTimeout = timeoutMs
    this.#server.on('secureConnection', (socket: Socket) => this.#generations.set(socket, this.#generation))
    // A handshake that fails is the caller's affair: a port scanner, a plain-HTTP probe.
    this.#server.on('tlsClientError', () => {})
  }

  /** Resolves to the port, once it listens. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#options.port, this.#options.address, () => {
        resolve((this.#server.address() as AddressInfo).port)
      })
    })
  }

  /** New handshakes get the new certificate; connections from before are asked to close after their next answer. */
  exchange({ cert, key }: CertificatePair): void {
    this.#server.setSecureContext({ cert, key, minVersion: 'TLSv1.2' })
    this.#generation++
  }

  /** Goes on serving, and tells every caller to come back elsewhere. */
  drain(): void {
    this.#draining = true
  }

  /** Resolves when the last request was answered. Idle connections are closed at once. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeIdleConnections()
    })
  }

  closeNow(): void {
    this.#server.closeAllConnections()
  }

  #app(): express.Express {
    const app = express()
    app.disable('x-powered-by')
    app.disable('etag')
    app.use((request: Request, response: Response, next: NextFunction) => {
      if (this.#shouldShed(request.socket)) response.setHeader('connection', 'close')
      next()
    })
    for (const [path, handler] of Object.entries(this.#options.handlers)) {
      app.post(path, handler)
      app.all(path, (_: Request, response: Response) => {
        response.setHeader('allow', 'POST')
        sendError(response, 405, 'use POST')
        this.#options.onRefused('wrong-method')
      })
    }
    app.use((_: Request, response: Response) => {
      sendError(response, 404, `here are ${Object.keys(this.#options.handlers).join(' and ')}`)
      this.#options.onRefused('wrong-path')
    })
    return app
  }

  #shouldShed(socket: Socket): boolean {
    return this.#draining || (this.#generations.get(socket) ?? this.#generation) < this.#generation
  }
}
