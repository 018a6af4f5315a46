// Azure Resource Manager, Resource Graph and Entra ID for tests, demos and benchmarks: plain HTTP on loopback, the real
// SDK speaks to it. It behaves as the real ones do where that hurts; what can be made to go wrong stands in faults.ts.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { readBody, send, type HttpAnswer } from '../ec2/http.ts'
import { AzureCloud } from './azure-cloud.ts'
import { CallHandler } from './call-handler.ts'
import { CallLog, type CallCount, type RecordedCall } from './call-log.ts'
import { spellingOf, type Disk, type DiskOptions } from './disk-store.ts'
import { FaultScript, type Fault, type FaultScope, type InjectedFault } from './faults.ts'
import { routeOf } from './routes.ts'
import { tagsPerResource } from './tag-rules.ts'

export interface AzureFakeOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number
  /** 127.0.0.1 where it is missing. */
  readonly host?: string
  /** Every answer takes this long; a write takes effect at its end. */
  readonly latencyMs?: number
  /** Enforce Azure's request buckets. */
  readonly buckets?: boolean
  /** Refuse calls whose token this fake's own Entra ID did not issue; any token does otherwise. */
  readonly requireToken?: boolean
  /** For latency, buckets, lag and late writes. */
  readonly clock?: Clock
  /** How many calls the log remembers. */
  readonly logLimit?: number
}

/** A credential for a fake that takes any token. */
export const fakeCredential = {
  getToken: async () => ({ token: 'fake-token', expiresOnTimestamp: Number.MAX_SAFE_INTEGER }),
}

/** Answers paths that are not Azure's own; undefined for those it does not know. */
export type ExtraRoute = (request: {
  readonly method: string
  readonly url: URL
  readonly body: string
}) => HttpAnswer | undefined

export class AzureFake {
  readonly #cloud: AzureCloud
  readonly #log: CallLog
  readonly #faults = new FaultScript()
  readonly #handler: CallHandler
  readonly #server: Server
  extraRoute: ExtraRoute | undefined

  private constructor(options: AzureFakeOptions) {
    const clock = options.clock ?? systemClock
    this.#cloud = new AzureCloud(clock)
    this.#log = new CallLog(options.logLimit ?? 1000)
    this.#handler = new CallHandler({
      cloud: this.#cloud,
      clock,
      log: this.#log,
      faults: this.#faults,
      requireToken: options.requireToken ?? false,
    })
    this.#handler.latencyMs = options.latencyMs ?? 0
    this.#cloud.enforceBuckets(options.buckets ?? false)
    this.#server = createServer((request, response) => void this.#serve(request, response))
    // Longer than any client keeps an idle connection, or a reused one may be cut under a request.
    this.#server.keepAliveTimeout = 120_000
  }

  static async start(options: AzureFakeOptions = {}): Promise<AzureFake> {
    const fake = new AzureFake(options)
    await new Promise<void>((resolve, reject) => {
      fake.#server.once('error', reject)
      fake.#server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve)
    })
    return fake
  }

  /** ARM's endpoint, and the host of the authority. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
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

  // Disks, as the cloud has them. None of these counts as a call; reads see changes after their lag.

  addDisk(id: string, options: DiskOptions = {}): void {
    this.#cloud.disks.add(id, options)
  }

  removeDisk(id: string): void {
    this.#cloud.disks.remove(id)
  }

  get diskCount(): number {
    return this.#cloud.disks.size
  }

  hasDisk(id: string): boolean {
    return this.#cloud.disks.get(id) !== undefined
  }

  /** The true tags now, whatever reads are made to see. Throws for a disk that does not exist. */
  tagsOf(id: string): Record<string, string> {
    return Object.fromEntries(this.#disk(id).tags)
  }

  /** Wall time of the last change to this disk. */
  changedAtMs(id: string): number {
    return this.#disk(id).changedAtMs
  }

  /** As somebody else would. */
  setTag(id: string, name: string, value: string): void {
    const disk = this.#disk(id)
    this.#cloud.disks.write(disk, new Map([...disk.tags, [spellingOf(disk.tags, name) ?? name, value]]))
  }

  deleteTag(id: string, name: string): void {
    const disk = this.#disk(id)
    const spelling = spellingOf(disk.tags, name)
    this.#cloud.disks.write(disk, new Map([...disk.tags].filter(([other]) => other !== spelling)))
  }

  /** Foreign tags until not one more can be added. */
  fill(id: string): void {
    for (let i = 0; this.#disk(id).tags.size < tagsPerResource; i++) this.setTag(id, `foreign-${i}`, 'x')
  }

  // Lasting conditions of the cloud.

  set latencyMs(ms: number) {
    this.#handler.latencyMs = ms
  }

  deny(ids: readonly string[]): void {
    for (const id of ids) this.#cloud.denied.add(id.toLowerCase())
  }

  denyReads(ids: readonly string[]): void {
    for (const id of ids) this.#cloud.deniedReads.add(id.toLowerCase())
  }

  allow(ids: readonly string[]): void {
    for (const id of ids) {
      this.#cloud.denied.delete(id.toLowerCase())
      this.#cloud.deniedReads.delete(id.toLowerCase())
    }
  }

  /** AKS's node resource group lockdown on this resource group, or (false) its end. */
  lockDown(group: string, on = true): void {
    if (on) this.#cloud.lockedDown.add(group.toLowerCase())
    else this.#cloud.lockedDown.delete(group.toLowerCase())
  }

  /** A read-only lock on a disk, by its id, or on a resource group, by its name. */
  lock(scope: string): void {
    this.#cloud.locks.add(scope.toLowerCase())
  }

  unlock(scope: string): void {
    this.#cloud.locks.delete(scope.toLowerCase())
  }

  consistency({ readLagMs, graphLagMs }: { readonly readLagMs?: number; readonly graphLagMs?: number }): void {
    if (readLagMs !== undefined) this.#cloud.disks.readLagMs = readLagMs
    if (graphLagMs !== undefined) this.#cloud.disks.graphLagMs = graphLagMs
  }

  /** Whether writes are accepted with 202, as for disks (true), or done with 200. */
  acceptWrites(on: boolean): void {
    this.#cloud.accepts = on
  }

  /** Azure's own request buckets; full each time they are switched on. */
  enforceBuckets(on: boolean): void {
    this.#cloud.enforceBuckets(on)
  }

  /** What the remaining-quota headers of every answer say, by their names. */
  remaining(headers: Readonly<Record<string, string>>): void {
    this.#cloud.remaining = headers
  }

  /** Every well-formed disk id that somebody asks for exists from then on, untagged. */
  adoptUnknownDisks(on: boolean): void {
    this.#cloud.disks.adoptsUnknown = on
  }

  /** How long tokens live that are handed out from now on. */
  tokenLifetime(ms: number): void {
    this.#cloud.tokens.lifetimeMs = ms
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
    const disk = this.#cloud.disks.get(id)
    if (disk === undefined) throw new Error(`the fake has no disk ${id}`)
    return disk
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming)
    if (body === undefined) return
    const method = incoming.method ?? 'GET'
    const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host ?? 'fake'}`)
    const extra = this.extraRoute?.({ method, url, body })
    if (extra !== undefined) return send(response, extra)
    const route = routeOf(method, url, body)
    if (route !== undefined) return this.#handler.handle(incoming, response, { route, url, body })
    const error = { code: 'InvalidResourceType', message: `The fake does not know ${method} ${url.pathname}.` }
    await send(response, { status: 404, type: 'application/json', body: JSON.stringify({ error }) })
  }
}
