// How another process steers the fake, in JSON:
//
//   GET  /_fake/state?ids=…,…           counts, calls in flight, disk count; labels and time of last change of those disks
//   GET  /_fake/calls?operation=…       the last calls
//   POST /_fake/disks    { add: [{ id, labels?, visibleAfterMs? }], remove: [id],
//                          count: n }   (that many disks with the ids of numberedDiskId)
//   POST /_fake/labels   { id, set: { key: value }, remove: [key] }   by hand; makes the disk where there is none
//   POST /_fake/faults   { fault: { kind, … }, operation?, ids?, times?: n | "always" } and/or
//                        { clear: true, release: true, deny: [id], allow: [id], fill: [id], latencyMs, quota: bool,
//                          operationsLastMs, adoptUnknown: bool, errorDetails: bool, metadataIsDown: bool }
//   POST /_fake/reset    forgets counts and calls
import type { HttpAnswer } from '../ec2/http.ts'
import type { DiskOptions } from './disk-store.ts'
import type { Fault, FaultScope } from './faults.ts'
import type { ExtraRoute, GcpFake } from './gcp-fake.ts'

export interface DiskFolder {
  readonly project: string
  /** Every third disk is a regional one, of this zone's region. */
  readonly zone: string
}

const defaultFolder: DiskFolder = { project: 'fake-project', zone: 'europe-west4-a' }

/** Disks made by number: `projects/fake-project/zones/europe-west4-a/disks/pvc-0000001` and so on. */
export function numberedDiskId(number: number, { project, zone }: DiskFolder = defaultFolder): string {
  const place = number % 3 === 0 ? `regions/${zone.slice(0, zone.lastIndexOf('-'))}` : `zones/${zone}`
  return `projects/${project}/${place}/disks/pvc-${String(number).padStart(7, '0')}`
}

/** Adds the numbered disks 1 to `count`, each with the labels that a GKE cluster leaves. */
export function addNumberedDisks(
  fake: GcpFake,
  count: number,
  { cluster = 'demo', firstNumber = 1, folder = defaultFolder }: NumberedDisks = {},
): void {
  for (let number = firstNumber; number < firstNumber + count; number++) {
    const labels = { 'goog-gke-volume': '', 'goog-k8s-cluster-name': cluster }
    fake.addDisk(numberedDiskId(number, folder), { labels })
  }
}

export interface NumberedDisks {
  readonly cluster?: string
  readonly firstNumber?: number
  readonly folder?: DiskFolder
}

export function controlRoute(fake: GcpFake): ExtraRoute {
  return ({ body, method, url }) => {
    if (!url.pathname.startsWith('/_fake/')) return undefined
    const handler = handlers[`${method} ${url.pathname.slice('/_fake/'.length)}`]
    if (handler === undefined) return json(404, { error: `no ${method} ${url.pathname}` })
    try {
      return json(200, handler(fake, body === '' ? {} : (JSON.parse(body) as object), url.searchParams))
    } catch (error) {
      return json(400, { error: String(error) })
    }
  }
}

type Handler = (fake: GcpFake, body: object, query: URLSearchParams) => object

const handlers: Readonly<Record<string, Handler>> = {
  'GET state': (fake, _, query) => ({
    counts: fake.counts(),
    identity: fake.identity.counts,
    inFlight: fake.inFlight,
    inFlightMax: fake.inFlightMax,
    diskCount: fake.diskCount,
    disks: Object.fromEntries((query.get('ids')?.split(',') ?? []).map((id) => [id, diskState(fake, id)])),
  }),
  'GET calls': (fake, _, query) => ({ calls: fake.calls(query.get('operation') ?? undefined) }),
  'POST disks': (fake, body) => {
    const { add = [], count = 0, remove = [] } = body as DisksRequest
    for (const { id, ...options } of add) fake.addDisk(id, options)
    for (const id of remove) fake.removeDisk(id)
    addNumberedDisks(fake, count)
    return { diskCount: fake.diskCount }
  },
  'POST labels': (fake, body) => {
    const { id, remove = [], set = {} } = body as LabelsRequest
    if (!fake.hasDisk(id)) fake.addDisk(id)
    for (const [key, value] of Object.entries(set)) fake.setLabel(id, key, value)
    for (const key of remove) fake.deleteLabel(id, key)
    return diskState(fake, id) ?? {}
  },
  'POST faults': (fake, body) => {
    const { fault, times, ...request } = body as FaultsRequest
    if (request.clear === true) fake.clearFaults()
    if (request.release === true) fake.release()
    if (fault !== undefined) fake.inject(fault, { ...request, times: times === 'always' ? Infinity : (times ?? 1) })
    setConditions(fake, request)
    return {}
  },
  'POST reset': (fake) => {
    fake.resetCounts()
    return {}
  },
}

interface DisksRequest {
  readonly add?: readonly ({ readonly id: string } & DiskOptions)[]
  readonly remove?: readonly string[]
  readonly count?: number
}

interface LabelsRequest {
  readonly id: string
  readonly set?: Readonly<Record<string, string>>
  readonly remove?: readonly string[]
}

interface Conditions {
  readonly deny?: readonly string[]
  readonly allow?: readonly string[]
  readonly fill?: readonly string[]
  readonly latencyMs?: number
  readonly quota?: boolean
  readonly operationsLastMs?: number
  readonly adoptUnknown?: boolean
  readonly errorDetails?: boolean
  readonly metadataIsDown?: boolean
}

interface FaultsRequest extends Omit<FaultScope, 'times'>, Conditions {
  readonly fault?: Fault
  readonly times?: number | 'always'
  readonly clear?: boolean
  readonly release?: boolean
}

function setConditions(fake: GcpFake, conditions: Conditions): void {
  fake.deny(conditions.deny ?? [])
  fake.allow(conditions.allow ?? [])
  for (const id of conditions.fill ?? []) fake.fill(id)
  if (conditions.latencyMs !== undefined) fake.latencyMs = conditions.latencyMs
  if (conditions.quota !== undefined) fake.enforceQuota(conditions.quota)
  if (conditions.operationsLastMs !== undefined) fake.operationsLast(conditions.operationsLastMs)
  if (conditions.adoptUnknown !== undefined) fake.adoptUnknownDisks(conditions.adoptUnknown)
  if (conditions.errorDetails !== undefined) fake.errorDetails = conditions.errorDetails
  if (conditions.metadataIsDown !== undefined) fake.identity.metadataIsDown = conditions.metadataIsDown
}

function diskState(fake: GcpFake, id: string): object | null {
  return fake.hasDisk(id) ? { labels: fake.labelsOf(id), changedAtMs: fake.changedAtMs(id) } : null
}

function json(status: number, value: object): HttpAnswer {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}
