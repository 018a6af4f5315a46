// Azure Resource Manager, Resource Graph and Entra ID for tests, demos and benchmarks: plain HTTP on loopback, the real
// SDK speaks to it. It behaves as the real ones do where that hurts; what can be made to go wrong stands in faults.ts.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { systemClock } from '../../src/runtime/clock.ts'
import type { CallCount } from '../cloud-fake/call-log.ts'
import { CloudFake, type CloudFakeOptions, type HttpRequest } from '../cloud-fake/cloud-fake.ts'
import { send } from '../cloud-fake/http.ts'
import { ArmService } from './arm-service.ts'
import { AzureCloud, type Request } from './azure-cloud.ts'
import { spellingOf, type Disk, type DiskOptions } from './disk-store.ts'
import { hits, type FaultScope, type OwnFault } from './faults.ts'
import { throttleCodes, type RecordedCall } from './recorded-call.ts'
import { routeOf } from './routes.ts'
import { tagsPerResource } from './tag-rules.ts'
import { learnTagsSchema, type TagsSchema } from './tags-schema.ts'

export interface AzureFakeOptions extends CloudFakeOptions {
  /** Enforce Azure's request buckets. */
  readonly buckets?: boolean
  /** Refuse calls whose token this fake's own Entra ID did not issue; any token does otherwise. */
  readonly requireToken?: boolean
}

/** A credential for a fake that takes any token. */
export const fakeCredential = {
  getToken: async () => ({ token: 'fake-token', expiresOnTimestamp: Number.MAX_SAFE_INTEGER }),
}

export class AzureFake extends CloudFake<Request, RecordedCall, CallCount, OwnFault, FaultScope> {
  readonly #cloud: AzureCloud

  private constructor(options: AzureFakeOptions, schema: TagsSchema) {
    const clock = options.clock ?? systemClock
    const cloud = new AzureCloud(clock)
    super(options, {
      service: new ArmService({ cloud, clock, schema, requireToken: options.requireToken ?? false }),
      log: {
        nameOf: ({ operation }) => operation,
        throttleOutcomes: throttleCodes,
        zero: { calls: 0, throttled: 0, failed: 0 },
      },
      hits,
    })
    this.#cloud = cloud
    cloud.enforceBuckets(options.buckets ?? false)
  }

  /** Its `url` is ARM's endpoint, and the host of the authority. */
  static async start(options: AzureFakeOptions = {}): Promise<AzureFake> {
    return new AzureFake(options, await learnTagsSchema()).listen()
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

  protected override async route(
    incoming: IncomingMessage,
    response: ServerResponse,
    { method, url, body }: HttpRequest,
  ): Promise<void> {
    const extra = this.extraRoute?.({ method, url, body })
    if (extra !== undefined) return send(response, extra)
    const route = routeOf(method, url, body)
    if (route !== undefined) return this.handle(incoming, response, { route, url, body })
    const error = { code: 'InvalidResourceType', message: `The fake does not know ${method} ${url.pathname}.` }
    return send(response, { status: 404, type: 'application/json', body: JSON.stringify({ error }) })
  }

  #disk(id: string): Disk {
    const disk = this.#cloud.disks.get(id)
    if (disk === undefined) throw new Error(`the fake has no disk ${id}`)
    return disk
  }
}
