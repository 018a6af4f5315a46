import type { Clock } from '../../src/runtime/clock.ts'
import { CredentialIssuer, type StaticCredentials } from './credentials.ts'
import { describeTags, describeVolumes } from './describe-actions.ts'
import { ec2Buckets, TokenBuckets } from './token-buckets.ts'
import { VolumeStore } from './volume-store.ts'
import { AwsFault, ec2Answer, stsAnswer, type CallParameters } from './wire.ts'
import { createTags, deleteTags, type Effect } from './write-actions.ts'

export const stsActions: ReadonlySet<string> = new Set(['AssumeRoleWithWebIdentity', 'AssumeRole', 'GetCallerIdentity'])

/** A call that passed every check. `effect` has not happened yet. */
export interface AcceptedCall {
  readonly effect?: Effect
  readonly answer: string | Iterable<string>
}

export interface AccountOptions {
  readonly region: string
  readonly account: string
  readonly credentials: readonly StaticCredentials[]
}

/** What one account in one region does with a call, without HTTP. */
export class Ec2Account {
  readonly volumes: VolumeStore
  readonly credentials: CredentialIssuer
  readonly denied = new Set<string>()
  readonly #clock: Clock
  #buckets: TokenBuckets | undefined
  namesMissing = true
  namesDenied = false

  readonly arnPrefix: string

  constructor(clock: Clock, { region, account, credentials }: AccountOptions) {
    this.#clock = clock
    this.arnPrefix = `arn:aws:ec2:${region}:${account}:volume/`
    this.volumes = new VolumeStore(clock)
    this.credentials = new CredentialIssuer(clock, account, credentials)
  }

  /** Starts with full buckets each time they are switched on. */
  enforceBuckets(on: boolean): void {
    this.#buckets = on ? new TokenBuckets(this.#clock, ec2Buckets) : undefined
  }

  /** Takes a token for this call. Throws RequestLimitExceeded where there is none. */
  admit(action: string, parameters: CallParameters): void {
    if (this.#buckets?.take(bucketOf(action, parameters)) === false) throw requestLimitExceeded()
  }

  accept(action: string, parameters: CallParameters, requestId: string): AcceptedCall {
    if (stsActions.has(action)) {
      return { answer: stsAnswer(action, requestId, this.credentials.sts(action, parameters)) }
    }
    const accepted = this.#acceptEc2(action, parameters)
    if (parameters.get('DryRun') === 'true') {
      throw new AwsFault('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.', 412)
    }
    return { ...accepted, answer: ec2Answer(action, requestId, accepted.answer) }
  }

  #acceptEc2(action: string, parameters: CallParameters): AcceptedCall & { readonly answer: Iterable<string> } {
    switch (action) {
      case 'DescribeVolumes':
        return { answer: describeVolumes(this.volumes, parameters, this) }
      case 'DescribeTags':
        return { answer: describeTags(this.volumes, parameters) }
      case 'CreateTags':
        return { effect: createTags(this.volumes, parameters, this), answer: ['<return>true</return>'] }
      case 'DeleteTags':
        return { effect: deleteTags(this.volumes, parameters, this), answer: ['<return>true</return>'] }
      default:
        throw new AwsFault('InvalidAction', `The action ${action} is not valid for this web service.`)
    }
  }
}

export function requestLimitExceeded(retryAfterSeconds?: number): AwsFault {
  return new AwsFault('RequestLimitExceeded', 'Request limit exceeded.', 503, retryAfterSeconds)
}

function bucketOf(action: string, parameters: CallParameters): string {
  if (action !== 'DescribeVolumes') return action
  const paged = ['MaxResults', 'NextToken', 'Filter.1.Name'].some((name) => parameters.get(name) !== undefined)
  return paged ? action : 'DescribeVolumes-unpaged'
}
