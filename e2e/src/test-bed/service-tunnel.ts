import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'

/** The far end of the API server's tunnel into a cluster: every Service is the one that we have. */
export class ServiceTunnel {
  readonly #server: Server
  readonly #sockets = new Set<Duplex>()

  private constructor(backends: () => readonly number[]) {
    let turn = 0
    this.#server = createServer()
    this.#server.on('connect', (_request, client) => {
      const ports = backends()
      const port = ports[turn++ % ports.length]
      this.#sockets.add(client)
      client.once('close', () => this.#sockets.delete(client))
      if (port === undefined) client.end('HTTP/1.1 503 Service Unavailable\r\n\r\n')
      else join(client, port)
    })
  }

  /** `backends` are the ports on loopback that take calls now. */
  static async start(options: {
    readonly socket: string
    readonly backends: () => readonly number[]
  }): Promise<ServiceTunnel> {
    const tunnel = new ServiceTunnel(options.backends)
    tunnel.#server.listen(options.socket)
    await once(tunnel.#server, 'listening')
    return tunnel
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

function join(client: Duplex, port: number): void {
  const backend = connect({ host: '127.0.0.1', port }, () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    client.pipe(backend).pipe(client)
  })
  backend.on('error', () => client.destroy())
  client.on('error', () => backend.destroy())
  backend.once('close', () => client.destroy())
  client.once('close', () => backend.destroy())
}
