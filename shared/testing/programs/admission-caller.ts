import { Agent, request } from 'node:https'
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { TLSSocket } from 'node:tls'

export interface CallOptions {
  readonly method?: string
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Buffer
}

export interface Answered {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  /** The port of our end: equal ones came over one connection. */
  readonly localPort: number
  /** Of the certificate of the connection that it came over. */
  readonly fingerprint: string
}

/** Speaks to a webhook as the API server does: TLS, HTTP/1.1, kept connections, nothing sent twice. */
export class AdmissionCaller {
  readonly #agent: Agent
  readonly #port: number

  constructor(options: { readonly port: number; readonly ca: string }) {
    this.#port = options.port
    this.#agent = new Agent({ keepAlive: true, ca: options.ca, ALPNProtocols: ['http/1.1'] })
  }

  /** A request whose body is still to be written. */
  open({ method = 'POST', path = '/validate?timeout=2s', headers = {} }: CallOptions = {}): OpenRequest {
    const outgoing = request({
      agent: this.#agent,
      host: '127.0.0.1',
      port: this.#port,
      method,
      path,
      headers: { 'content-type': 'application/json', ...headers },
    })
    return new OpenRequest(outgoing)
  }

  async call(options: CallOptions = {}): Promise<Answered> {
    const { body = '', headers, method } = options
    const length = method === 'GET' && body === '' ? {} : { 'content-length': Buffer.byteLength(body) }
    const open = this.open({ ...options, headers: { ...length, ...headers } })
    open.outgoing.end(body)
    return open.answer
  }

  review(review: object): Promise<Answered> {
    return this.call({ body: JSON.stringify(review) })
  }

  close(): void {
    this.#agent.destroy()
  }
}

export class OpenRequest {
  readonly outgoing: ClientRequest
  /** Rejects where the connection ends before an answer. */
  readonly answer: Promise<Answered>

  constructor(outgoing: ClientRequest) {
    this.outgoing = outgoing
    this.answer = new Promise((resolve, reject) => {
      outgoing.on('error', reject)
      outgoing.on('response', (response) => {
        const socket = response.socket as TLSSocket
        const { localPort = 0 } = socket
        const fingerprint = socket.getPeerCertificate().fingerprint256
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, localPort, fingerprint })
        })
      })
    })
    this.answer.catch(() => undefined)
  }
}
