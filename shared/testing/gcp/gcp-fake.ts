// A Compute Engine (and metadata server, and token exchange) for tests, demos and benchmarks: plain HTTP on loopback,
// Google's own client speaks to it. It behaves as the real one does where that hurts; what can be made to go wrong is
// listed in faults.ts.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { readBody, send, type HttpAnswer } from '../ec2/http.ts'
import { CallHandler } from './call-handler.ts'
import { CallLog, type CallCount, type RecordedCall } from './call-log.ts'
import { DiskActions } from './disk-actions.ts'
import type { Disk, DiskOptions } from './disk-store.ts'
import { FaultScript, type Fault, type FaultScope, type InjectedFault } from './faults.ts'
import { Identity } from './identity.ts'
import { labelsPerDisk } from './label-rules.ts'
import { parseRequest } from './wire.ts'

export interface GcpFakeOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number
  /** 127.0.0.1 where it is missing. */
  readonly host?: string
  /** Every answer takes this long; a write takes effect at its end. */
  readonly latencyMs?: number
  /** Enforce Compute Engine's quota of each minute. */
  readonly quota?: boolean
  /** What the metadata server says; `fake-project` where it is missing. */
  readonly project?: string
  /** Refuse calls without a token that this fake handed out. */
  readonly requireToken?: boolean
  /** For latency, quota, operations and late writes. */
  readonly clock?: Clock
  /** How many calls the log remembers. */
  readonly logLimit?: number
}

/** Answers paths that are not Google's own; undefined for those it does not know. */
export type ExtraRoute = (request: {
  readonly method: string
  readonly url: URL
  readonly body: string
}) => HttpAnswer | undefined

export class GcpFake {
  /** What hands out tokens, on the same port. */
  readonly identity: Identity
  readonly #actions: DiskActions
  readonly #log: CallLog
  readonly #faults = new FaultScript()
  readonly #handler: CallHandler
  readonly #server: Server
  extraRoute: ExtraRoute | undefined

  private constructor(options: GcpFakeOptions) {
    const clock = options.clock ?? systemClock
    this.identity = new Identity(clock, options.project ?? 'fake-project')
    this.#actions = new DiskActions(clock)
    this.#log = new CallLog(options.logLimit ?? 1000)
    this.#handler = new CallHandler({
      actions: this.#actions,
      identity: this.identity,
      clock,
      log: this.#log,
      faults: this.#faults,
      requireToken: options.requireToken ?? false,
    })
    this.#handler.latencyMs = options.latencyMs ?? 0
    this.#actions.enforceQuota(options.quota ?? false)
    this.#server = createServer((request, response) => void this.#serve(request, response))
    // Longer than any client keeps an idle connection, or a reused one may be cut under a request.
    this.#server.keepAliveTimeout = 120_000
  }

  static async start(options: GcpFakeOptions = {}): Promise<GcpFake> {
    const fake = new GcpFake(options)
    await new Promise<void>((resolve, reject) => {
      fake.#server.once('error', reject)
      fake.#server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve)
    })
    return fake
  }

  /** For `gcp.endpoint`. */
  get url(): string {
    return `http://${this.host}`
  }

  /** For `GCE_METADATA_HOST`. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
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

  // Disks, as the cloud has them, by `projects/p/zones/z/disks/d`. None of these counts as a call.

  addDisk(id: string, options: DiskOptions = {}): void {
    this.#actions.disks.add(id, options)
  }

  removeDisk(id: string): void {
    this.#actions.disks.remove(id)
  }

  get diskCount(): number {
    return this.#actions.disks.size
  }

  hasDisk(id: string): boolean {
    return this.#actions.disks.get(id) !== undefined
  }

  /** Throws for a disk that does not exist, as the next two do. */
  labelsOf(id: string): Record<string, string> {
    return Object.fromEntries(this.#disk(id).labels)
  }

  fingerprintOf(id: string): string {
    return this.#disk(id).fingerprint
  }

  /** Wall time of the last change to this disk. */
  changedAtMs(id: string): number {
    return this.#disk(id).changedAtMs
  }

  /** As somebody else would; the fingerprint changes. */
  setLabel(id: string, key: string, value: string): void {
    const disk = this.#disk(id)
    this.#actions.disks.write(disk, new Map([...disk.labels, [key, value]]))
  }

  deleteLabel(id: string, key: string): void {
    const disk = this.#disk(id)
    this.#actions.disks.write(disk, new Map([...disk.labels].filter(([name]) => name !== key)))
  }

  /** Foreign labels until not one more can be added. */
  fill(id: string): void {
    for (let i = 0; this.#disk(id).labels.size < labelsPerDisk; i++) this.setLabel(id, `foreign-${i}`, 'x')
  }

  // Lasting conditions of the cloud.

  set latencyMs(ms: number) {
    this.#handler.latencyMs = ms
  }

  /** Whether errors carry `details` with an ErrorInfo, as newer front ends send them. */
  set errorDetails(on: boolean) {
    this.#handler.errorDetails = on
  }

  deny(ids: readonly string[]): void {
    for (const id of ids) this.#actions.denied.add(id)
  }

  allow(ids: readonly string[]): void {
    for (const id of ids) this.#actions.denied.delete(id)
  }

  /** 1,500 calls a minute of each group; full each time it is switched on. */
  enforceQuota(on: boolean): void {
    this.#actions.enforceQuota(on)
  }

  /** A write takes effect so much later; until then the disk is not ready for another. */
  operationsLast(ms: number): void {
    this.#actions.operationMs = ms
  }

  /** Every disk that somebody asks for exists from then on, without labels. */
  adoptUnknownDisks(on: boolean): void {
    this.#actions.disks.adoptsUnknown = on
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

  count(operation: string): Readonly<CallCount> {
    return { ...this.#log.count(operation) }
  }

  /** Calls of the API; what was asked of `identity` is counted there. */
  counts(): Record<string, CallCount> {
    return this.#log.counts()
  }

  /** The last calls, oldest first. */
  calls(operation?: string): readonly RecordedCall[] {
    return this.#log.recent().filter((call) => operation === undefined || call.operation === operation)
  }

  /** Resolves when the next such call arrives. */
  nextCall(operation?: string): Promise<RecordedCall> {
    return this.#log.next(operation)
  }

  get inFlight(): number {
    return this.#log.inFlight
  }

  get inFlightMax(): number {
    return this.#log.inFlightMax
  }

  /** Forgets counts and log; disks, faults and conditions stay. */
  resetCounts(): void {
    this.#log.reset()
  }

  #disk(id: string): Disk {
    const disk = this.#actions.disks.get(id)
    if (disk === undefined) throw new Error(`the fake has no disk ${id}`)
    return disk
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    if (body === undefined) return
    const { headers, method = 'GET' } = request
    const url = new URL(request.url ?? '/', 'http://fake')
    const compute = parseRequest(method, url, { headers, body })
    if (compute !== undefined) {
      await this.#handler.handle(request, response, compute)
      return
    }
    // Google's own programs look whether the metadata server calls itself one.
    if (url.pathname.startsWith('/computeMetadata/')) response.setHeader('Metadata-Flavor', 'Google')
    const answer =
      this.extraRoute?.({ method, url, body }) ?? this.identity.answer({ method, path: url.pathname, headers })
    await send(response, answer ?? { status: 404, type: 'text/html', body: '<title>Error 404 (Not Found)!!1</title>' })
  }
}
