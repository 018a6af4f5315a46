// Where a program gets its tokens from: the metadata server of a GKE node, and the token exchange that programs outside
// of Google use. Both on the fake's own port: GCE_METADATA_HOST for the one, `token_url` in the credentials file for the
// other.
import type { IncomingHttpHeaders } from 'node:http'
import type { HttpAnswer } from '../cloud-fake/http.ts'
import type { Clock } from '../../src/runtime/clock.ts'

export interface IdentityRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

/** Hands out tokens and knows them again. */
export class Identity {
  readonly #clock: Clock
  readonly #project: string
  readonly #expiryByToken = new Map<string, number>()
  readonly #counts: Record<string, number> = {}
  #tokens = 0
  lifetimeMs = 3_600_000
  /** The metadata server answers 503, as it does on GKE for some seconds after a pod's start. */
  metadataIsDown = false

  constructor(clock: Clock, project: string) {
    this.#clock = clock
    this.#project = project
  }

  /** How often each path was asked for. */
  get counts(): Readonly<Record<string, number>> {
    return { ...this.#counts }
  }

  isValid(authorization: string | undefined): boolean {
    const expiresAtMs = this.#expiryByToken.get(authorization?.replace(/^Bearer /, '') ?? '')
    return expiresAtMs !== undefined && expiresAtMs > this.#clock.wallMs()
  }

  /** From now on every token that was handed out is refused. */
  revokeAll(): void {
    this.#expiryByToken.clear()
  }

  issue(): string {
    const token = `fake-token-${++this.#tokens}`
    this.#expiryByToken.set(token, this.#clock.wallMs() + this.lifetimeMs)
    return token
  }

  /** Undefined for paths that are none of its own. */
  answer({ headers, method, path }: IdentityRequest): HttpAnswer | undefined {
    const isMetadata = path.startsWith('/computeMetadata/v1')
    if (!isMetadata && !(method === 'POST' && exchangePaths.test(path))) return undefined
    this.#counts[path] = (this.#counts[path] ?? 0) + 1
    if (!isMetadata) return this.#exchange(path)
    if (this.metadataIsDown) return { status: 503, type: 'text/plain', body: 'not ready' }
    if (headers['metadata-flavor'] !== 'Google') return { status: 403, type: 'text/plain', body: 'Metadata-Flavor' }
    return this.#metadata(path.slice('/computeMetadata/v1'.length))
  }

  #metadata(path: string): HttpAnswer {
    switch (path.replace(/\/$/, '')) {
      case '/instance':
        return text('service-accounts/\n')
      case '/project/project-id':
        return text(this.#project)
      case '/universe/universe-domain':
        return text('googleapis.com')
      case '/instance/service-accounts/default/token':
        return json({
          access_token: this.issue(),
          expires_in: Math.floor(this.lifetimeMs / 1000),
          token_type: 'Bearer',
        })
      default:
        return { status: 404, type: 'text/plain', body: 'not found' }
    }
  }

  #exchange(path: string): HttpAnswer {
    if (path === '/v1/token') {
      return json({
        access_token: this.issue(),
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: Math.floor(this.lifetimeMs / 1000),
      })
    }
    return json({
      accessToken: this.issue(),
      expireTime: new Date(this.#clock.wallMs() + this.lifetimeMs).toISOString(),
    })
  }
}

const exchangePaths = /^\/v1\/(?:token|projects\/-\/serviceAccounts\/[^/]+:generateAccessToken)$/

function text(body: string): HttpAnswer {
  return { status: 200, type: 'application/text', body }
}

function json(value: object): HttpAnswer {
  return { status: 200, type: 'application/json', body: JSON.stringify(value) }
}
