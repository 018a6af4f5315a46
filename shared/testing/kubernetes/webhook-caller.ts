import { Agent, request } from 'node:https'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import type { Clock } from '../../src/runtime/clock.ts'
import { childOf, isJsonObject, type JsonObject, stringOf } from './objects.ts'

/** Where a Service leads to, since nothing here routes cluster addresses. */
export interface ServiceAddress {
  readonly host?: string
  readonly port: number
}

interface Target {
  readonly host: string
  readonly port: number
  readonly path: string
  /** The DNS name that the certificate must hold; undefined where the URL's own host is checked. */
  readonly serverName: string | undefined
  readonly caBundle: string | undefined
}

/** Posts reviews as the API server does: HTTP/1.1, pooled connections, the service's DNS name as ServerName, no retry. */
export class WebhookCaller {
  readonly #clock: Clock
  readonly #services: ReadonlyMap<string, ServiceAddress>
  readonly #agents = new Map<string, Agent>()

  constructor(clock: Clock, services: ReadonlyMap<string, ServiceAddress>) {
    this.#clock = clock
    this.#services = services
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
    this.#agents.clear()
  }

  /** Gives the decoded answer of a 200. Rejects for everything else, with a reason in words. */
  async call(clientConfig: JsonObject, timeoutSeconds: number, review: JsonObject): Promise<JsonObject> {
    const target = this.#resolve(clientConfig)
    const answer = await this.#post(target, timeoutSeconds, JSON.stringify(review))
    if (answer.code < 200 || answer.code >= 300) {
      throw new Error(
        `an error on the server (${JSON.stringify(answer.text)}) has prevented the request from succeeding`,
      )
    }
    const decoded = decode(answer.text)
    if (decoded === undefined) throw new Error("couldn't get version/kind; json parse error")
    return decoded
  }

  #resolve(clientConfig: JsonObject): Target {
    const caBundle = stringOf(clientConfig, 'caBundle')
    const url = stringOf(clientConfig, 'url')
    if (url !== undefined) {
      const { hostname, port, pathname } = new URL(url)
      const host = hostname.replace(/^\[|\]$/g, '')
      return { host, port: Number(port === '' ? 443 : port), path: pathname, serverName: undefined, caBundle }
    }
    const service = childOf(clientConfig, 'service')
    const name = `${stringOf(service, 'name') ?? ''}.${stringOf(service, 'namespace') ?? ''}`
    const address = this.#services.get(name)
    if (address === undefined) throw new Error(`service "${name}" not found`)
    const path = stringOf(service, 'path') ?? '/'
    return { host: address.host ?? '127.0.0.1', port: address.port, path, serverName: `${name}.svc`, caBundle }
  }

  #post(target: Target, timeoutSeconds: number, body: string): Promise<{ code: number; text: string }> {
    return new Promise((resolve, reject) => {
      const outgoing = request({
        agent: this.#agentFor(target),
        host: target.host,
        port: target.port,
        method: 'POST',
        path: `${target.path}?timeout=${timeoutSeconds}s`,
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          Accept: 'application/json, */*',
          'User-Agent': 'kube-apiserver-admission',
          Host: target.serverName === undefined ? `${target.host}:${target.port}` : `${target.serverName}:443`,
        },
      })
      const timer = this.#clock.setTimer(timeoutSeconds * 1000, () => {
        outgoing.destroy(new Error('context deadline exceeded'))
      })
      const fail = (error: Error): void => {
        timer.cancel()
        reject(error)
      }
      outgoing.on('error', fail)
      outgoing.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', fail)
        response.on('end', () => {
          timer.cancel()
          resolve({ code: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
        })
      })
      outgoing.end(body)
    })
  }

  /** One pool for each endpoint and trust; a changed caBundle makes a new one, as on the API server. */
  #agentFor({ host, port, serverName, caBundle }: Target): Agent {
    const key = JSON.stringify([host, port, serverName, caBundle])
    const known = this.#agents.get(key)
    if (known !== undefined) return known
    const agent = new Agent({
      keepAlive: true,
      maxFreeSockets: 25,
      ALPNProtocols: ['http/1.1'],
      checkServerIdentity: requireAlternativeName,
      ...(caBundle === undefined ? {} : { ca: Buffer.from(caBundle, 'base64') }),
      ...(serverName === undefined ? {} : { servername: serverName }),
    })
    this.#agents.set(key, agent)
    return agent
  }
}

/** Go does not fall back to the common name, Node does. */
function requireAlternativeName(hostname: string, certificate: PeerCertificate): Error | undefined {
  if (certificate.subjectaltname === undefined) {
    return new Error('x509: certificate relies on legacy Common Name field, use SANs instead')
  }
  return checkServerIdentity(hostname, certificate)
}

function decode(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
