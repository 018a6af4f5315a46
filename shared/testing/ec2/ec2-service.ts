import type { IncomingMessage } from 'node:http'
import type { AcceptedCall, CloudService, Refusal } from '../cloud-fake/call-handler.ts'
import type { HttpAnswer } from '../cloud-fake/http.ts'
import type { Clock } from '../../src/runtime/clock.ts'
import { requestLimitExceeded, stsActions, type Ec2Account } from './account.ts'
import type { OwnFault } from './faults.ts'
import type { RecordedCall } from './recorded-call.ts'
import { checkSignature } from './signature.ts'
import { AwsFault, ec2Error, stsError, type CallParameters } from './wire.ts'

export interface Ec2Request {
  readonly action: string
  readonly parameters: CallParameters
  readonly body: string
  readonly requestId: string
}

export interface Ec2ServiceParts {
  readonly account: Ec2Account
  readonly clock: Clock
  /** The region that signatures must be made for; undefined where calls need none. */
  readonly signatureRegion: string | undefined
}

const xml = 'text/xml;charset=UTF-8'

/** EC2 and STS by their query protocol. */
export class Ec2Service implements CloudService<Ec2Request, RecordedCall, OwnFault> {
  readonly #parts: Ec2ServiceParts
  readonly garbage: HttpAnswer = { status: 200, type: xml, body: '<html><body>Service is warming up' }

  constructor(parts: Ec2ServiceParts) {
    this.#parts = parts
  }

  record(_: IncomingMessage, { action, parameters }: Ec2Request, atMs: number): RecordedCall {
    const filtered = parameters
      .structures('Filter')
      .filter((members) => idFilters.has(members.get('Name')))
      .flatMap((members) => [...members].filter(([member]) => member.startsWith('Value.')).map(([, value]) => value))
    return {
      atMs,
      action,
      ids: [...parameters.list('ResourceId'), ...parameters.list('VolumeId'), ...filtered],
      parameters: parameters.summary(),
      outcome: undefined,
      endedAtMs: undefined,
    }
  }

  admit(incoming: IncomingMessage, { action, body, parameters }: Ec2Request): void {
    this.#checkSignature(action, incoming, body)
    this.#parts.account.admit(action, parameters)
  }

  accept({ action, parameters, requestId }: Ec2Request): AcceptedCall {
    const { answer, effect } = this.#parts.account.accept(action, parameters, requestId)
    return { effect, answer: { status: 200, type: xml, body: answer } }
  }

  refusal(error: unknown, { action, requestId }: Ec2Request): Refusal {
    const fault = error instanceof AwsFault ? error : new AwsFault('InternalError', String(error), 500)
    const body = stsActions.has(action) ? stsError(fault, requestId) : ec2Error(fault, requestId)
    const headers =
      fault.retryAfterSeconds === undefined ? {} : { headers: { 'Retry-After': String(fault.retryAfterSeconds) } }
    return { outcome: fault.code, answer: { status: fault.status, type: xml, body, ...headers } }
  }

  throttled(_: Ec2Request, retryAfterSeconds: number | undefined): AwsFault {
    return requestLimitExceeded(retryAfterSeconds)
  }

  suffer({ code, message, status }: OwnFault): Refusal {
    throw new AwsFault(code, message ?? `${code} was asked for`, status ?? 400)
  }

  #checkSignature(action: string, { method, url, headers }: IncomingMessage, body: string): void {
    const { signatureRegion, account, clock } = this.#parts
    // A web identity is exchanged by a program that has no key yet.
    if (signatureRegion === undefined || action === 'AssumeRoleWithWebIdentity') return
    checkSignature(
      { method: method ?? '', url: url ?? '/', headers, body },
      {
        service: stsActions.has(action) ? 'sts' : 'ec2',
        region: signatureRegion,
        nowMs: clock.wallMs(),
        secretOf: (accessKeyId, sessionToken) => account.credentials.secretOf(accessKeyId, sessionToken),
      },
    )
  }
}

const idFilters: ReadonlySet<string | undefined> = new Set(['volume-id', 'resource-id'])
