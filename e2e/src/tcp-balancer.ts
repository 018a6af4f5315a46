import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export interface Backend {
  readonly host: string
  readonly port: number
}

/**
 * Stands in for a Service in front of several replicas: it picks the next backend for each connection, as kube-proxy
 * does, and knows nothing of requests. A backend that refuses is passed over; where all refuse, the client's connection
 * is reset. Connections stay with their backend, also when it was taken out.
 */
export class TcpBalancer {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #backends: readonly Backend[]
  #next = 0
  /** Connections given to each backend so far, by `host:port`. */
  readonly connections = new Map<string, number>()

  private constructor(server: Server, backends: readonly Backend[]) {
    this.#server = server
    this.#backends = backends
    server.on('connection', (client: Socket) => this.#accept(client))
  }

  static async start(
    backends: readonly Backend[],
    { host = '127.0.0.1' }: { readonly host?: string } = {},
  ): Promise<TcpBalancer> {
    const server = createServer({ noDelay: true })
    const balancer = new TcpBalancer(server, backends)
    server.listen(0, host)
    await once(server, 'listening')
    return balancer
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** For new connections, as when a pod becomes ready or unready. */
  setBackends(backends: readonly Backend[]): void {
    this.#backends = backends
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(client: Socket): void {
    this.#track(client)
    const backends = this.#backends
    const first = this.#next++
    const candidates = backends.map((_, index) => backends[(first + index) % backends.length])
    this.#tryNext(
      client,
      candidates.filter((backend) => backend !== undefined),
    )
  }

  #tryNext(client: Socket, [backend, ...others]: readonly Backend[]): void {
    if (backend === undefined || client.destroyed) {
      client.resetAndDestroy()
      return
    }
    const upstream = this.#track(connect({ ...backend, noDelay: true }))
    const refused = () => this.#tryNext(client, others)
    upstream.once('error', refused)
    upstream.once('connect', () => {
      upstream.off('error', refused)
      const key = `${backend.host}:${backend.port}`
      this.connections.set(key, (this.connections.get(key) ?? 0) + 1)
      join(client, upstream)
    })
  }

  #track(socket: Socket): Socket {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => this.#sockets.delete(socket))
    return socket
  }
}

/** An end on one side is an end on the other, and a break is a break. */
function join(client: Socket, upstream: Socket): void {
  client.pipe(upstream)
  upstream.pipe(client)
  client.once('close', () => upstream.destroy())
  upstream.once('close', () => client.destroy())
}
