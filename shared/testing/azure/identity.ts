import { ArmFault } from './arm-fault.ts'

/** Microsoft Entra ID, as far as workload identity needs it: discovery and a token for a service account's token. */
export class TokenIssuer {
  readonly #issued = new Map<string, number>()
  #count = 0
  lifetimeMs = 3_600_000

  /** `/{tenant}/v2.0/.well-known/openid-configuration`, for whoever reached us as `origin`. */
  openIdConfiguration(origin: string, tenant: string): object {
    const authority = `${origin}/${tenant}`
    return {
      token_endpoint: `${authority}/oauth2/v2.0/token`,
      authorization_endpoint: `${authority}/oauth2/v2.0/authorize`,
      end_session_endpoint: `${authority}/oauth2/v2.0/logout`,
      jwks_uri: `${authority}/discovery/v2.0/keys`,
      issuer: `${authority}/v2.0`,
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
    }
  }

  /** `/{tenant}/oauth2/v2.0/token` */
  token(form: URLSearchParams, nowMs: number): object {
    if (!form.has('client_assertion') && !form.has('client_secret')) {
      throw new ArmFault(400, 'invalid_client', 'AADSTS7000218: The request body must contain client_assertion.')
    }
    const token = `fake-token-${++this.#count}`
    this.#issued.set(token, nowMs + this.lifetimeMs)
    const seconds = Math.round(this.lifetimeMs / 1000)
    return { token_type: 'Bearer', expires_in: seconds, ext_expires_in: seconds, access_token: token }
  }

  isValid(token: string, nowMs: number): boolean {
    return (this.#issued.get(token) ?? 0) > nowMs
  }
}
