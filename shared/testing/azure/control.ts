// How another process steers the fake, in JSON:
//
//   GET  /_fake/state?ids=/subscriptions/…,…   counts, calls in flight, disk count; tags and time of last change of those
//   GET  /_fake/calls?operation=MergeTags      the last calls
//   POST /_fake/disks    { add: [{ id, tags?, visibleAfterMs? }], remove: [id], count: n }  (that many, by numberedDiskId)
//   POST /_fake/tags     { id, set: { name: value }, remove: [name] }   by hand; makes the disk where there is none
//   POST /_fake/faults   { fault: { kind, … }, operation?, ids?, times?: n | "always" } and/or
//                        { clear: true, release: true, deny: [id], denyReads: [id], allow: [id], fill: [id],
//                          lock: [scope], unlock: [scope], lockDown: [group], latencyMs, buckets: bool, readLagMs,
//                          graphLagMs, adoptUnknown: bool, acceptWrites: bool, remaining: { header: value } }
//   POST /_fake/reset    forgets counts and calls
import type { HttpAnswer } from '../ec2/http.ts'
import type { AzureFake, ExtraRoute } from './azure-fake.ts'
import type { DiskOptions } from './disk-store.ts'
import type { Fault, FaultScope } from './faults.ts'

const subscription = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0'

/** Disks made by number, in the group that AKS makes for a cluster, or in another. */
export function numberedDiskId(number: number, group = 'MC_demo_aks_westeurope'): string {
  return `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Compute/disks/pvc-${number}`
}

/** Adds the numbered disks 1 to `count`, each with the tags that the CSI driver leaves. */
export function addNumberedDisks(fake: AzureFake, count: number, group?: string): void {
  for (let number = 1; number <= count; number++) {
    const tags = { 'k8s-azure-created-by': 'kubernetes-azure-dd', 'kubernetes.io-created-for-pv-name': `pvc-${number}` }
    fake.addDisk(numberedDiskId(number, group), { tags })
  }
}

export function controlRoute(fake: AzureFake): ExtraRoute {
  return ({ method, url, body }) => {
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

type Handler = (fake: AzureFake, body: object, query: URLSearchParams) => object

const handlers: Readonly<Record<string, Handler>> = {
  'GET state': (fake, _, query) => ({
    counts: fake.counts(),
    inFlight: fake.inFlight,
    inFlightMax: fake.inFlightMax,
    diskCount: fake.diskCount,
    disks: Object.fromEntries((query.get('ids')?.split(',') ?? []).map((id) => [id, diskState(fake, id)])),
  }),
  'GET calls': (fake, _, query) => ({ calls: fake.calls(query.get('operation') ?? undefined) }),
  'POST disks': (fake, body) => {
    const { add = [], remove = [], count = 0 } = body as DisksRequest
    for (const { id, ...options } of add) fake.addDisk(id, options)
    for (const id of remove) fake.removeDisk(id)
    addNumberedDisks(fake, count)
    return { diskCount: fake.diskCount }
  },
  'POST tags': (fake, body) => {
    const { id, set = {}, remove = [] } = body as TagsRequest
    if (!fake.hasDisk(id)) fake.addDisk(id)
    for (const [name, value] of Object.entries(set)) fake.setTag(id, name, value)
    for (const name of remove) fake.deleteTag(id, name)
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

interface TagsRequest {
  readonly id: string
  readonly set?: Readonly<Record<string, string>>
  readonly remove?: readonly string[]
}

interface Conditions {
  readonly deny?: readonly string[]
  readonly denyReads?: readonly string[]
  readonly allow?: readonly string[]
  readonly fill?: readonly string[]
  readonly lock?: readonly string[]
  readonly unlock?: readonly string[]
  readonly lockDown?: readonly string[]
  readonly latencyMs?: number
  readonly buckets?: boolean
  readonly readLagMs?: number
  readonly graphLagMs?: number
  readonly adoptUnknown?: boolean
  readonly acceptWrites?: boolean
  readonly remaining?: Readonly<Record<string, string>>
}

interface FaultsRequest extends Omit<FaultScope, 'times'>, Conditions {
  readonly fault?: Fault
  readonly times?: number | 'always'
  readonly clear?: boolean
  readonly release?: boolean
}

function setConditions(fake: AzureFake, conditions: Conditions): void {
  fake.deny(conditions.deny ?? [])
  fake.denyReads(conditions.denyReads ?? [])
  fake.allow(conditions.allow ?? [])
  fake.consistency(conditions)
  for (const id of conditions.fill ?? []) fake.fill(id)
  for (const scope of conditions.lock ?? []) fake.lock(scope)
  for (const scope of conditions.unlock ?? []) fake.unlock(scope)
  for (const group of conditions.lockDown ?? []) fake.lockDown(group)
  setServing(fake, conditions)
}

/** What holds for every call, whatever its disk. */
function setServing(fake: AzureFake, conditions: Conditions): void {
  if (conditions.latencyMs !== undefined) fake.latencyMs = conditions.latencyMs
  if (conditions.buckets !== undefined) fake.enforceBuckets(conditions.buckets)
  if (conditions.adoptUnknown !== undefined) fake.adoptUnknownDisks(conditions.adoptUnknown)
  if (conditions.acceptWrites !== undefined) fake.acceptWrites(conditions.acceptWrites)
  if (conditions.remaining !== undefined) fake.remaining(conditions.remaining)
}

function diskState(fake: AzureFake, id: string): object | null {
  return fake.hasDisk(id) ? { tags: fake.tagsOf(id), changedAtMs: fake.changedAtMs(id) } : null
}

function json(status: number, value: object): HttpAnswer {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}
