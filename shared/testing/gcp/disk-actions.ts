import type { Clock } from '../../src/runtime/clock.ts'
import { DiskStore, type Disk } from './disk-store.ts'
import { applyMask } from './field-mask.ts'
import { parseFilter } from './filters.ts'
import { checkLabels } from './label-rules.ts'
import { MinuteQuota, quotaGroupOf, quotaPerMinute, type QuotaGroup } from './quota.ts'
import {
  conditionNotMet,
  forbidden,
  invalid,
  notFound,
  rateLimitExceeded,
  resourceNotReady,
  type ComputeRequest,
} from './wire.ts'

/** A call that passed every check. `effect` has not happened yet. */
export interface AcceptedCall {
  readonly effect?: () => void
  readonly answer: string
}

/** A page has 500 items and no more, whatever a client asks for. */
export const pageSizeMax = 500

/** What Compute Engine does with a call, without HTTP. */
export class DiskActions {
  readonly disks: DiskStore
  readonly denied = new Set<string>()
  readonly #clock: Clock
  #quota: MinuteQuota | undefined
  #operations = 0
  /** How long an operation lasts until its effect; 0 has it at once, though the answer still says RUNNING. */
  operationMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.disks = new DiskStore(clock)
  }

  enforceQuota(on: boolean, limits: Partial<Readonly<Record<QuotaGroup, number>>> = {}): void {
    this.#quota = on ? new MinuteQuota(this.#clock, { ...quotaPerMinute, ...limits }) : undefined
  }

  /** Counts this call. Throws where the minute's quota is used up. */
  admit({ operation, project }: ComputeRequest): void {
    if (this.#quota?.take(project, quotaGroupOf(operation)) === false) throw rateLimitExceeded()
  }

  accept(request: ComputeRequest): AcceptedCall {
    switch (request.operation) {
      case 'disks.get':
      case 'regionDisks.get':
        return { answer: masked(diskJson(this.#disk(request)), request) }
      case 'disks.list':
      case 'regionDisks.list':
        return { answer: masked(this.#list(request), request) }
      case 'disks.aggregatedList':
        return { answer: masked(this.#aggregatedList(request), request) }
      case 'disks.setLabels':
      case 'regionDisks.setLabels':
        return this.#setLabels(request)
      default:
        return { answer: JSON.stringify({ kind: 'compute#operation', name: request.resource, status: 'DONE' }) }
    }
  }

  /** An operation that answers a write, and carries no fingerprint: who wants that must read again. */
  operationJson({ operation, parent, resource }: ComputeRequest, failure?: { status: number; code: string }): string {
    const name = `operation-${++this.#operations}`
    const url = `https://www.googleapis.com/compute/v1/${parent}`
    return JSON.stringify({
      kind: 'compute#operation',
      id: String(7_000_000_000_000 + this.#operations),
      name,
      operationType: operation.slice(operation.indexOf('.') + 1),
      targetLink: `${url}/disks/${resource}`,
      status: failure === undefined ? 'RUNNING' : 'DONE',
      progress: failure === undefined ? 0 : 100,
      selfLink: `${url}/operations/${name}`,
      ...(failure !== undefined && {
        httpErrorStatusCode: failure.status,
        httpErrorMessage: failure.code,
        error: { errors: [{ code: failure.code, message: 'the operation failed' }] },
      }),
    })
  }

  #setLabels(request: ComputeRequest): AcceptedCall {
    const disk = this.#disk(request)
    if (this.denied.has(disk.id)) throw forbidden('compute.disks.setLabels', disk.id)
    const { labelFingerprint, labels } = parseBody(request.body)
    checkLabels(labels)
    if (disk.busyUntilMs > this.#clock.monotonicMs()) throw resourceNotReady(disk.id)
    if (labelFingerprint !== disk.fingerprint) throw conditionNotMet()
    return {
      effect: () => this.#takeEffect(disk, labels),
      answer: this.operationJson(request),
    }
  }

  #takeEffect(disk: Disk, labels: ReadonlyMap<string, string>): void {
    if (this.operationMs === 0) {
      this.disks.write(disk, labels)
      return
    }
    disk.busyUntilMs = this.#clock.monotonicMs() + this.operationMs
    this.#clock.setTimer(this.operationMs, () => this.disks.write(disk, labels))
  }

  #disk({ parent, resource }: ComputeRequest): Disk {
    const id = `${parent}/disks/${resource}`
    const disk = this.disks.visible(id)
    if (disk === undefined) throw notFound(id)
    return disk
  }

  #list({ parent, query }: ComputeRequest): JsonObject {
    const filter = parseFilter(query.get('filter'))
    const size = pageSize(query)
    const items: Disk[] = []
    for (const disk of this.disks.after(parent, tokenOf(query).name)) {
      if (!filter(disk)) continue
      if (items.length === size) return listJson(parent, items, nextToken({ parent, name: items.at(-1)?.name ?? '' }))
      items.push(disk)
    }
    return listJson(parent, items, undefined)
  }

  #aggregatedList({ parent: project, project: name, query }: ComputeRequest): JsonObject {
    const filter = parseFilter(query.get('filter'))
    const size = pageSize(query)
    const from = tokenOf(query)
    const scopes: Record<string, JsonObject> = {}
    let count = 0
    let last = from
    let more = false
    for (const parent of this.disks.parents(name)) {
      const scope = parent.slice(project.length + 1)
      const found: Disk[] = []
      if (parent >= from.parent && !more) {
        for (const disk of this.disks.after(parent, parent === from.parent ? from.name : '')) {
          if (!filter(disk)) continue
          more = count === size
          if (more) break
          count++
          last = { parent, name: disk.name }
          found.push(disk)
        }
      }
      scopes[scope] = found.length > 0 ? { disks: found.map(diskJson) } : { warning: nothingOnPage(scope) }
    }
    return {
      kind: 'compute#diskAggregatedList',
      items: scopes,
      ...(more && { nextPageToken: nextToken(last) }),
    }
  }
}

type JsonObject = { readonly [key: string]: Parameters<typeof applyMask>[0] }

function masked(answer: JsonObject, { fields }: ComputeRequest): string {
  return JSON.stringify(applyMask(answer, fields))
}

interface PageToken {
  readonly parent: string
  readonly name: string
}

function tokenOf(query: URLSearchParams): PageToken {
  const token = query.get('pageToken')
  if (token === null || token === '') return { parent: '', name: '' }
  const [parent, name] = Buffer.from(token, 'base64url').toString().split('\n')
  if (parent === undefined || name === undefined) throw invalid(`Invalid value for field 'pageToken': '${token}'.`)
  return { parent, name }
}

function nextToken({ name, parent }: PageToken): string {
  return Buffer.from(`${parent}\n${name}`).toString('base64url')
}

function pageSize(query: URLSearchParams): number {
  const wanted = Number(query.get('maxResults') ?? pageSizeMax)
  if (!Number.isInteger(wanted) || wanted < 0 || wanted > pageSizeMax) {
    throw invalid(`Invalid value for field 'maxResults': '${query.get('maxResults')}'.`)
  }
  return wanted === 0 ? pageSizeMax : wanted
}

function listJson(parent: string, disks: readonly Disk[], nextPageToken: string | undefined): JsonObject {
  return {
    kind: 'compute#diskList',
    id: `${parent}/disks`,
    // An empty list has no items at all.
    ...(disks.length > 0 && { items: disks.map(diskJson) }),
    ...(nextPageToken !== undefined && { nextPageToken }),
    selfLink: `https://www.googleapis.com/compute/v1/${parent}/disks`,
  }
}

function nothingOnPage(scope: string): JsonObject {
  return {
    code: 'NO_RESULTS_ON_PAGE',
    message: 'There are no results for scope on this page.',
    data: [{ key: 'scope', value: scope }],
  }
}

function diskJson(disk: Disk): JsonObject {
  const url = `https://www.googleapis.com/compute/v1/${disk.parent}`
  const [, project = '', kind = '', place = ''] = disk.parent.split('/')
  return {
    kind: 'compute#disk',
    id: String(4_000_000_000_000 + disk.number),
    creationTimestamp: '2026-01-01T00:00:00.000-08:00',
    name: disk.name,
    sizeGb: '10',
    [kind === 'regions' ? 'region' : 'zone']: url,
    status: 'READY',
    selfLink: `${url}/disks/${disk.name}`,
    type: `https://www.googleapis.com/compute/v1/projects/${project}/zones/${place}/diskTypes/pd-balanced`,
    // Nothing where there is nothing.
    ...(disk.labels.size > 0 && { labels: Object.fromEntries(disk.labels) }),
    labelFingerprint: disk.fingerprint,
    physicalBlockSizeBytes: '4096',
    enableConfidentialCompute: false,
    satisfiesPzi: true,
  }
}

function parseBody(body: string): {
  readonly labels: ReadonlyMap<string, string>
  readonly labelFingerprint: string | undefined
} {
  let parsed: { readonly labels?: Readonly<Record<string, string>>; readonly labelFingerprint?: string }
  try {
    parsed = JSON.parse(body) as typeof parsed
  } catch {
    throw invalid('Invalid JSON payload received.')
  }
  return { labels: new Map(Object.entries(parsed.labels ?? {})), labelFingerprint: parsed.labelFingerprint }
}
