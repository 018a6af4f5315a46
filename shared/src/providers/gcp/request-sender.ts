import { Agent as HttpAgent, type AgentOptions } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { gaxios } from 'google-auth-library'
import type { Credentials } from './credentials.ts'
import type { RequestSender, SdkRequest, SdkResponse } from './sdk-types.ts'
import { RefusedRequest } from './errors.ts'

export type ProxyEnv = NonNullable<AgentOptions['proxyEnv']>

/** The largest page of 500 disks has a tenth of that. */
const answerBytesMax = 32 * 1024 * 1024

/**
 * Sends the SDK's requests, in place of the library's own way, which has no regard for a proxy, looks for credentials
 * once and fails for good where it finds none, sends again what was answered with 403, and throws most of an error away.
 */
export class ProxiedSender implements RequestSender {
  readonly #credentials: Credentials
  readonly #transport = new gaxios.Gaxios()
  readonly #http: HttpAgent
  readonly #https: HttpsAgent

  constructor({
    credentials,
    proxyEnv,
  }: {
    readonly credentials: Credentials
    readonly proxyEnv: ProxyEnv | undefined
  }) {
    this.#credentials = credentials
    // Few connections, kept open, since a TLS handshake costs more than the call.
    const pool = { keepAlive: true, maxSockets: 50, ...(proxyEnv !== undefined && { proxyEnv }) }
    this.#http = new HttpAgent(pool)
    this.#https = new HttpsAgent(pool)
  }

  getRequestHeaders(): Promise<Headers> {
    return this.#credentials.headers()
  }

  /** Throws RefusedRequest for every answer that is no success, NoCredentials, or what the transport throws. */
  async fetch(url: string, { body, headers, method, signal }: SdkRequest): Promise<SdkResponse> {
    const all = new Headers(headers)
    for (const [name, value] of await this.getRequestHeaders()) all.set(name, value)
    signal.throwIfAborted()
    const response = await this.#transport.request({
      url,
      method,
      headers: all,
      signal,
      ...(body !== undefined && { body }),
      agent: ({ protocol }: URL) => (protocol === 'http:' ? this.#http : this.#https),
      maxContentLength: answerBytesMax,
      maxRedirects: 0,
      responseType: 'stream',
      validateStatus: () => true,
    })
    if (response.ok) return response
    if (response.status === 401) this.#credentials.refused()
    throw new RefusedRequest({
      status: response.status,
      body: await response.text(),
      retryAfter: response.headers.get('retry-after') ?? undefined,
    })
  }

  close(): void {
    this.#http.destroy()
    this.#https.destroy()
  }
}
