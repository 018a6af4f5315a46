import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'

const endOfHead = Buffer.from('\r\n\r\n')

/**
 * One kept connection over which the same review is sent again and again, one at a time. Written on the socket itself: an
 * HTTP client would cost more than the server that is measured.
 */
export class ReviewConnection {
  readonly #socket: TLSSocket
  readonly #request: Buffer
  #received: Buffer = Buffer.alloc(0)
  #answered: { resolve(status: number): void; reject(error: Error): void } | undefined

  private constructor(socket: TLSSocket, request: Buffer) {
    this.#socket = socket
    this.#request = request
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('close', () => this.#answered?.reject(new Error('The connection was closed under a review')))
    socket.on('error', () => {})
  }

  static async open(port: number, body: Buffer): Promise<ReviewConnection> {
    // It is measured, not trusted: the certificate's authority is not asked for.
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
    await once(socket, 'secureConnect')
    socket.setNoDelay(true)
    const head = [
      'POST /validate?timeout=2s HTTP/1.1',
      `host: 127.0.0.1:${port}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      '',
      '',
    ].join('\r\n')
    return new ReviewConnection(socket, Buffer.concat([Buffer.from(head), body]))
  }

  /** Resolves to the status of the answer. */
  send(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#answered = { resolve, reject }
      this.#socket.write(this.#request)
    })
  }

  close(): void {
    this.#answered = undefined
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const headEnd = this.#received.indexOf(endOfHead)
    if (headEnd === -1) return
    const head = this.#received.subarray(0, headEnd).toString('latin1')
    const length = Number(/^content-length: (?<length>\d+)$/im.exec(head)?.groups?.['length'] ?? Number.NaN)
    if (!(this.#received.length >= headEnd + endOfHead.length + length)) return
    this.#received = Buffer.alloc(0)
    const answered = this.#answered
    this.#answered = undefined
    answered?.resolve(Number(head.slice(9, 12)))
  }
}
