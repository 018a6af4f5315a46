import type { Clock } from '../../src/runtime/clock.ts'
import { AwsFault, element, type CallParameters } from './wire.ts'

export interface StaticCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export interface IssuedCredentials extends StaticCredentials {
  readonly sessionToken: string
  readonly roleArn: string
  readonly expiresAtMs: number
}

/** The keys that this account knows: the given static ones and those that STS or Pod Identity handed out. */
export class CredentialIssuer {
  readonly #clock: Clock
  readonly #account: string
  readonly #known = new Map<
    string,
    StaticCredentials & { readonly sessionToken?: string; readonly expiresAtMs?: number }
  >()
  #issued = 0
  lifetimeMs = 3_600_000

  constructor(clock: Clock, account: string, staticCredentials: readonly StaticCredentials[]) {
    this.#clock = clock
    this.#account = account
    for (const credentials of staticCredentials) this.#known.set(credentials.accessKeyId, credentials)
  }

  issue(roleArn: string): IssuedCredentials {
    const number = String(++this.#issued).padStart(12, '0')
    const issued: IssuedCredentials = {
      accessKeyId: `ASIA${number}`,
      secretAccessKey: `secret-${number}`,
      sessionToken: `token-${number}`,
      roleArn,
      expiresAtMs: this.#clock.wallMs() + this.lifetimeMs,
    }
    this.#known.set(issued.accessKeyId, issued)
    return issued
  }

  /** The secret behind a key id. Throws as EC2 does for keys that are unknown or over. */
  secretOf(accessKeyId: string, sessionToken: string | undefined): string {
    const known = this.#known.get(accessKeyId)
    if (known === undefined || known.sessionToken !== sessionToken) {
      throw new AwsFault('AuthFailure', 'AWS was not able to validate the provided access credentials', 401)
    }
    if (known.expiresAtMs !== undefined && known.expiresAtMs <= this.#clock.wallMs()) {
      throw new AwsFault('RequestExpired', 'Request has expired.')
    }
    return known.secretAccessKey
  }

  /** The result of an STS action, without its envelope. */
  sts(action: string, parameters: CallParameters): string {
    if (action === 'GetCallerIdentity') {
      const arn = `arn:aws:sts::${this.#account}:assumed-role/tagger/session`
      return element('Arn', arn) + element('UserId', 'AROAFAKE:session') + element('Account', this.#account)
    }
    const roleArn = parameters.get('RoleArn')
    if (roleArn === undefined) throw new AwsFault('ValidationError', 'RoleArn is required')
    if (action === 'AssumeRoleWithWebIdentity' && (parameters.get('WebIdentityToken') ?? '') === '') {
      throw new AwsFault('InvalidIdentityToken', 'The ID Token provided is not a valid JWT.')
    }
    const issued = this.issue(roleArn)
    const sessionName = parameters.get('RoleSessionName') ?? 'session'
    const credentials =
      element('AccessKeyId', issued.accessKeyId) +
      element('SecretAccessKey', issued.secretAccessKey) +
      element('SessionToken', issued.sessionToken) +
      element('Expiration', new Date(issued.expiresAtMs).toISOString())
    const user =
      element('AssumedRoleId', `AROAFAKE:${sessionName}`) +
      element('Arn', `${roleArn.replace(':role/', ':assumed-role/')}/${sessionName}`)
    return `<Credentials>${credentials}</Credentials><AssumedRoleUser>${user}</AssumedRoleUser>`
  }

  /** What the EKS Pod Identity agent answers on its credentials path. */
  podIdentity(): string {
    const issued = this.issue(`arn:aws:iam::${this.#account}:role/pod-identity`)
    return JSON.stringify({
      AccessKeyId: issued.accessKeyId,
      SecretAccessKey: issued.secretAccessKey,
      Token: issued.sessionToken,
      AccountId: this.#account,
      Expiration: new Date(issued.expiresAtMs).toISOString(),
    })
  }
}
