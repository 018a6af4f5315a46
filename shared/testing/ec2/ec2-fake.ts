// An EC2 (and STS, and EKS Pod Identity agent) for tests, demos and benchmarks: plain HTTP on loopback, real AWS SDKs
// speak to it. It behaves as the real one does where that hurts; what can be made to go wrong is listed in faults.ts.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { systemClock } from '../../src/runtime/clock.ts'
import { CloudFake, type CloudFakeOptions, type HttpRequest } from '../cloud-fake/cloud-fake.ts'
import { send } from '../cloud-fake/http.ts'
import { Ec2Account } from './account.ts'
import type { StaticCredentials } from './credentials.ts'
import { Ec2Service, type Ec2Request } from './ec2-service.ts'
import { hits, type FaultScope, type OwnFault } from './faults.ts'
import type { CallCount, RecordedCall } from './recorded-call.ts'
import type { Volume, VolumeOptions } from './volume-store.ts'
import { CallParameters } from './wire.ts'
import { userTagCount, userTagsPerVolume } from './write-actions.ts'

export interface Ec2FakeOptions extends CloudFakeOptions {
  /** Enforce EC2's request buckets. */
  readonly buckets?: boolean
  readonly region?: string
  readonly account?: string
  /** Refuse calls that are not signed with `credentials` or with what STS or Pod Identity handed out. */
  readonly requireSignature?: boolean
  readonly credentials?: readonly StaticCredentials[]
}

/** The keys that a fake knows when none are given. */
export const fakeCredentials: StaticCredentials = { accessKeyId: 'AKIAFAKE', secretAccessKey: 'fake-secret' }

export class Ec2Fake extends CloudFake<Ec2Request, RecordedCall, CallCount, OwnFault, FaultScope> {
  readonly #account: Ec2Account

  private constructor(options: Ec2FakeOptions) {
    const clock = options.clock ?? systemClock
    const region = options.region ?? 'eu-west-1'
    const account = new Ec2Account(clock, {
      region,
      account: options.account ?? '123456789012',
      credentials: options.credentials ?? [fakeCredentials],
    })
    const signatureRegion = options.requireSignature === true ? region : undefined
    super(options, {
      service: new Ec2Service({ account, clock, signatureRegion }),
      log: {
        nameOf: ({ action }) => action,
        throttleOutcomes: new Set(['RequestLimitExceeded']),
        zero: { calls: 0, disks: 0, throttled: 0, failed: 0 },
        alsoCount: (count, { ids }) => void (count.disks += ids.length),
      },
      hits,
    })
    this.#account = account
    account.enforceBuckets(options.buckets ?? false)
  }

  /** Its `url` is for `AWS_ENDPOINT_URL`, `AWS_ENDPOINT_URL_EC2`, `AWS_ENDPOINT_URL_STS` or a client's `endpoint`. */
  static start(options: Ec2FakeOptions = {}): Promise<Ec2Fake> {
    return new Ec2Fake(options).listen()
  }

  /** For `AWS_CONTAINER_CREDENTIALS_FULL_URI`, as the EKS Pod Identity agent serves it. */
  get podIdentityUrl(): string {
    return `${this.url}/v1/credentials`
  }

  // Volumes, as the cloud has them. None of these counts as a call; reads see changes after their lag.

  addVolume(id: string, options: VolumeOptions = {}): void {
    this.#account.volumes.add(id, options)
  }

  removeVolume(id: string): void {
    this.#account.volumes.remove(id)
  }

  get volumeCount(): number {
    return this.#account.volumes.size
  }

  hasVolume(id: string): boolean {
    return this.#account.volumes.get(id) !== undefined
  }

  /** The true tags now, whatever reads are made to see. Throws for a volume that does not exist. */
  tagsOf(id: string): Record<string, string> {
    return Object.fromEntries(this.#volume(id).tags)
  }

  /** Wall time of the last change to this volume. */
  changedAtMs(id: string): number {
    return this.#volume(id).changedAtMs
  }

  /** As somebody else would. */
  setTag(id: string, key: string, value: string): void {
    const volume = this.#volume(id)
    this.#account.volumes.write(volume, new Map([...volume.tags, [key, value]]))
  }

  deleteTag(id: string, key: string): void {
    const volume = this.#volume(id)
    this.#account.volumes.write(volume, new Map([...volume.tags].filter(([name]) => name !== key)))
  }

  /** Foreign tags until no user tag can be added, and some of AWS's own, which do not count. */
  fill(id: string): void {
    for (let i = 0; userTagCount(this.#volume(id).tags) < userTagsPerVolume; i++) this.setTag(id, `foreign-${i}`, 'x')
    for (let i = 0; i < 10; i++) this.setTag(id, `aws:foreign-${i}`, 'x')
  }

  // Lasting conditions of the cloud.

  deny(ids: readonly string[]): void {
    for (const id of ids) this.#account.denied.add(id)
  }

  allow(ids: readonly string[]): void {
    for (const id of ids) this.#account.denied.delete(id)
  }

  consistency({ readLagMs, youngVolumeMs }: { readonly readLagMs?: number; readonly youngVolumeMs?: number }): void {
    if (readLagMs !== undefined) this.#account.volumes.readLagMs = readLagMs
    if (youngVolumeMs !== undefined) this.#account.volumes.youngVolumeMs = youngVolumeMs
  }

  /** EC2's own request buckets; full each time they are switched on. */
  enforceBuckets(on: boolean): void {
    this.#account.enforceBuckets(on)
  }

  /** Every well-formed volume id that somebody asks for exists from then on, untagged. */
  adoptUnknownVolumes(on: boolean): void {
    this.#account.volumes.adoptsUnknown = on
  }

  /** Whether errors name the volumes they are about. */
  messages({ namesMissing, namesDenied }: { readonly namesMissing?: boolean; readonly namesDenied?: boolean }): void {
    if (namesMissing !== undefined) this.#account.namesMissing = namesMissing
    if (namesDenied !== undefined) this.#account.namesDenied = namesDenied
  }

  /** How long credentials live that STS and Pod Identity hand out from now on. */
  credentialLifetime(ms: number): void {
    this.#account.credentials.lifetimeMs = ms
  }

  protected override async route(
    incoming: IncomingMessage,
    response: ServerResponse,
    { method, url, body }: HttpRequest,
  ): Promise<void> {
    const extra = this.extraRoute?.({ method, url, body })
    if (extra !== undefined) return send(response, extra)
    if (method === 'GET' && url.pathname === '/v1/credentials') {
      return send(response, { status: 200, type: 'application/json', body: this.#account.credentials.podIdentity() })
    }
    const parameters = new CallParameters(body)
    const action = parameters.get('Action') ?? ''
    return this.handle(incoming, response, { action, parameters, body, requestId: randomUUID() })
  }

  #volume(id: string): Volume {
    const volume = this.#account.volumes.get(id)
    if (volume === undefined) throw new Error(`the fake has no volume ${id}`)
    return volume
  }
}
