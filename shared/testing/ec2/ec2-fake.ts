// An EC2 (and STS, and EKS Pod Identity agent) for tests, demos and benchmarks: plain HTTP on loopback, real AWS SDKs
// speak to it. It behaves as the real one does where that hurts; what can be made to go wrong is listed in faults.ts.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { Ec2Account } from './account.ts'
import { CallHandler } from './call-handler.ts'
import { CallLog, type CallCount, type RecordedCall } from './call-log.ts'
import type { StaticCredentials } from './credentials.ts'
import { FaultScript, type Fault, type FaultScope, type InjectedFault } from './faults.ts'
import { readBody, send, type HttpAnswer } from './http.ts'
import type { Volume, VolumeOptions } from './volume-store.ts'
import { userTagCount, userTagsPerVolume } from './write-actions.ts'

export interface Ec2FakeOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number
  /** 127.0.0.1 where it is missing. */
  readonly host?: string
  /** Every answer takes this long; a write takes effect at its end. */
  readonly latencyMs?: number
  /** Enforce EC2's request buckets. */
  readonly buckets?: boolean
  readonly region?: string
  readonly account?: string
  /** Refuse calls that are not signed with `credentials` or with what STS or Pod Identity handed out. */
  readonly requireSignature?: boolean
  readonly credentials?: readonly StaticCredentials[]
  /** For latency, buckets, lag and late writes. */
  readonly clock?: Clock
  /** How many calls the log remembers. */
  readonly logLimit?: number
}

/** The keys that a fake knows when none are given. */
export const fakeCredentials: StaticCredentials = { accessKeyId: 'AKIAFAKE', secretAccessKey: 'fake-secret' }

/** Answers paths that are not AWS's own; undefined for those it does not know. */
export type ExtraRoute = (request: {
  readonly method: string
  readonly url: URL
  readonly body: string
}) => HttpAnswer | undefined

export class Ec2Fake {
  readonly #account: Ec2Account
  readonly #log: CallLog
  readonly #faults = new FaultScript()
  readonly #handler: CallHandler
  readonly #server: Server
  extraRoute: ExtraRoute | undefined

  private constructor(options: Ec2FakeOptions) {
    const clock = options.clock ?? systemClock
    const region = options.region ?? 'eu-west-1'
    this.#account = new Ec2Account(clock, {
      region,
      account: options.account ?? '123456789012',
      credentials: options.credentials ?? [fakeCredentials],
    })
    this.#log = new CallLog(options.logLimit ?? 1000)
    this.#handler = new CallHandler({
      account: this.#account,
      clock,
      log: this.#log,
      faults: this.#faults,
      signatureRegion: options.requireSignature === true ? region : undefined,
    })
    this.#handler.latencyMs = options.latencyMs ?? 0
    this.#account.enforceBuckets(options.buckets ?? false)
    this.#server = createServer((request, response) => void this.#serve(request, response))
    // Longer than any client keeps an idle connection, or a reused one may be cut under a request.
    this.#server.keepAliveTimeout = 120_000
  }

  static async start(options: Ec2FakeOptions = {}): Promise<Ec2Fake> {
    const fake = new Ec2Fake(options)
    await new Promise<void>((resolve, reject) => {
      fake.#server.once('error', reject)
      fake.#server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve)
    })
    return fake
  }

  /** For `AWS_ENDPOINT_URL`, `AWS_ENDPOINT_URL_EC2`, `AWS_ENDPOINT_URL_STS` or a client's `endpoint`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** For `AWS_CONTAINER_CREDENTIALS_FULL_URI`, as the EKS Pod Identity agent serves it. */
  get podIdentityUrl(): string {
    return `${this.url}/v1/credentials`
  }

  /** Cuts every connection, also of calls that hang; late writes that are still under way never land. */
  async close(): Promise<void> {
    this.#handler.stop()
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
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

  set latencyMs(ms: number) {
    this.#handler.latencyMs = ms
  }

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

  // Faults of single calls.

  inject(fault: Fault, scope: FaultScope = {}): InjectedFault {
    return this.#faults.add(fault, scope)
  }

  clearFaults(): void {
    this.#faults.clear()
  }

  /** Lets all calls that hang now go their ordinary way. */
  release(): void {
    this.#handler.release()
  }

  /** Resolves when every late write has taken effect. */
  landed(): Promise<void> {
    return this.#handler.landed()
  }

  // What was called.

  /** Heard when a call has arrived and before anything happened; what it returns is awaited. */
  set onCall(listener: ((call: RecordedCall) => void | Promise<void>) | undefined) {
    this.#handler.onCall = listener
  }

  count(action: string): Readonly<CallCount> {
    return { ...this.#log.count(action) }
  }

  counts(): Record<string, CallCount> {
    return this.#log.counts()
  }

  /** The last calls, oldest first. */
  calls(action?: string): readonly RecordedCall[] {
    return this.#log.recent().filter((call) => action === undefined || call.action === action)
  }

  /** Resolves when the next such call arrives. */
  nextCall(action?: string): Promise<RecordedCall> {
    return this.#log.next(action)
  }

  get inFlight(): number {
    return this.#log.inFlight
  }

  get inFlightMax(): number {
    return this.#log.inFlightMax
  }

  /** Forgets counts and log; volumes, faults and conditions stay. */
  resetCounts(): void {
    this.#log.reset()
  }

  #volume(id: string): Volume {
    const volume = this.#account.volumes.get(id)
    if (volume === undefined) throw new Error(`the fake has no volume ${id}`)
    return volume
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    if (body === undefined) return
    const method = request.method ?? 'GET'
    const url = new URL(request.url ?? '/', 'http://fake')
    const extra = this.extraRoute?.({ method, url, body })
    if (extra !== undefined) await send(response, extra)
    else if (method === 'GET' && url.pathname === '/v1/credentials') {
      await send(response, { status: 200, type: 'application/json', body: this.#account.credentials.podIdentity() })
    } else await this.#handler.handle(request, response, body)
  }
}
