// A Compute Engine (and metadata server, and token exchange) for tests, demos and benchmarks: plain HTTP on loopback,
// Google's own client speaks to it. It behaves as the real one does where that hurts; what can be made to go wrong is
// listed in faults.ts.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { systemClock } from '../../src/runtime/clock.ts'
import type { CallCount } from '../cloud-fake/call-log.ts'
import { CloudFake, type CloudFakeOptions, type HttpRequest } from '../cloud-fake/cloud-fake.ts'
import { send } from '../cloud-fake/http.ts'
import { ComputeService } from './compute-service.ts'
import { DiskActions } from './disk-actions.ts'
import type { Disk, DiskOptions } from './disk-store.ts'
import { hits, type FaultScope, type OwnFault } from './faults.ts'
import { Identity } from './identity.ts'
import { labelsPerDisk } from './label-rules.ts'
import type { RecordedCall } from './recorded-call.ts'
import type { QuotaGroup } from './quota.ts'
import { parseRequest, type ComputeRequest } from './wire.ts'

export interface GcpFakeOptions extends CloudFakeOptions {
  /** Enforce Compute Engine's quota of each minute. */
  readonly quota?: boolean
  /** What the metadata server says; `fake-project` where it is missing. */
  readonly project?: string
  /** Refuse calls without a token that this fake handed out. */
  readonly requireToken?: boolean
}

export class GcpFake extends CloudFake<ComputeRequest, RecordedCall, CallCount, OwnFault, FaultScope> {
  /** What hands out tokens, on the same port; what was asked of it is counted there. */
  readonly identity: Identity
  readonly #actions: DiskActions
  readonly #service: ComputeService

  private constructor(options: GcpFakeOptions) {
    const clock = options.clock ?? systemClock
    const identity = new Identity(clock, options.project ?? 'fake-project')
    const actions = new DiskActions(clock)
    const service = new ComputeService({ actions, identity, requireToken: options.requireToken ?? false })
    super(options, {
      service,
      log: {
        nameOf: ({ operation }) => operation,
        throttleOutcomes: new Set(['rateLimitExceeded']),
        zero: { calls: 0, throttled: 0, failed: 0 },
      },
      hits,
    })
    this.identity = identity
    this.#actions = actions
    this.#service = service
    actions.enforceQuota(options.quota ?? false)
  }

  /** Its `url` is for `gcp.endpoint`, its `host` for `GCE_METADATA_HOST`. */
  static start(options: GcpFakeOptions = {}): Promise<GcpFake> {
    return new GcpFake(options).listen()
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

  /** Whether errors carry `details` with an ErrorInfo, as newer front ends send them. */
  set errorDetails(on: boolean) {
    this.#service.errorDetails = on
  }

  deny(ids: readonly string[]): void {
    for (const id of ids) this.#actions.denied.add(id)
  }

  allow(ids: readonly string[]): void {
    for (const id of ids) this.#actions.denied.delete(id)
  }

  /** 1,500 calls a minute of each group, or fewer; full each time it is switched on. */
  enforceQuota(on: boolean, limits: Partial<Readonly<Record<QuotaGroup, number>>> = {}): void {
    this.#actions.enforceQuota(on, limits)
  }

  /** A write takes effect so much later; until then the disk is not ready for another. */
  operationsLast(ms: number): void {
    this.#actions.operationMs = ms
  }

  /** Every disk that somebody asks for exists from then on, without labels. */
  adoptUnknownDisks(on: boolean): void {
    this.#actions.disks.adoptsUnknown = on
  }

  protected override async route(
    incoming: IncomingMessage,
    response: ServerResponse,
    { method, url, body }: HttpRequest,
  ): Promise<void> {
    const { headers } = incoming
    const compute = parseRequest(method, url, { headers, body })
    if (compute !== undefined) return this.handle(incoming, response, compute)
    // Google's own programs look whether the metadata server calls itself one.
    if (url.pathname.startsWith('/computeMetadata/')) response.setHeader('Metadata-Flavor', 'Google')
    const answer =
      this.extraRoute?.({ method, url, body }) ?? this.identity.answer({ method, path: url.pathname, headers })
    return send(response, answer ?? { status: 404, type: 'text/html', body: '<title>Error 404 (Not Found)!!1</title>' })
  }

  #disk(id: string): Disk {
    const disk = this.#actions.disks.get(id)
    if (disk === undefined) throw new Error(`the fake has no disk ${id}`)
    return disk
  }
}
