// How another process steers the fake, in JSON:
//
//   GET  /_fake/state?ids=vol-1,vol-2   counts, calls in flight, volume count; tags and time of last change of those volumes
//   GET  /_fake/calls?action=CreateTags the last calls
//   POST /_fake/volumes  { add: [{ id, tags?, managed?, visibleAfterMs?, tagsVisibleAfterMs? }], remove: [id],
//                          count: n }   (that many volumes with the ids of numberedVolumeId)
//   POST /_fake/tags     { id, set: { key: value }, remove: [key] }   by hand; makes the volume where there is none
//   POST /_fake/faults   { fault: { kind, … }, action?, ids?, times?: n | "always" } and/or
//                        { clear: true, release: true, deny: [id], allow: [id], fill: [id], latencyMs, buckets: bool,
//                          readLagMs, youngVolumeMs, adoptUnknown: bool, namesMissing: bool, namesDenied: bool }
//   POST /_fake/reset    forgets counts and calls
import type { Ec2Fake, ExtraRoute } from './ec2-fake.ts'
import type { Fault, FaultScope } from './faults.ts'
import type { HttpAnswer } from './http.ts'
import type { VolumeOptions } from './volume-store.ts'

/** Volumes made by number: `vol-00000000000000001` and so on. */
export function numberedVolumeId(number: number): string {
  return `vol-${number.toString(16).padStart(17, '0')}`
}

/** Adds the numbered volumes 1 to `count`, each with the tags that a CSI driver leaves. */
export function addNumberedVolumes(fake: Ec2Fake, count: number, firstNumber = 1): void {
  for (let number = firstNumber; number < firstNumber + count; number++) {
    const tags = { CSIVolumeName: `pvc-${number}`, 'ebs.csi.aws.com/cluster': 'true' }
    fake.addVolume(numberedVolumeId(number), { tags })
  }
}

export function controlRoute(fake: Ec2Fake): ExtraRoute {
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

type Handler = (fake: Ec2Fake, body: object, query: URLSearchParams) => object

const handlers: Readonly<Record<string, Handler>> = {
  'GET state': (fake, _, query) => ({
    counts: fake.counts(),
    inFlight: fake.inFlight,
    inFlightMax: fake.inFlightMax,
    volumeCount: fake.volumeCount,
    volumes: Object.fromEntries((query.get('ids')?.split(',') ?? []).map((id) => [id, volumeState(fake, id)])),
  }),
  'GET calls': (fake, _, query) => ({ calls: fake.calls(query.get('action') ?? undefined) }),
  'POST volumes': (fake, body) => {
    const { add = [], remove = [], count = 0 } = body as VolumesRequest
    for (const { id, ...options } of add) fake.addVolume(id, options)
    for (const id of remove) fake.removeVolume(id)
    addNumberedVolumes(fake, count)
    return { volumeCount: fake.volumeCount }
  },
  'POST tags': (fake, body) => {
    const { id, set = {}, remove = [] } = body as TagsRequest
    if (!fake.hasVolume(id)) fake.addVolume(id)
    for (const [key, value] of Object.entries(set)) fake.setTag(id, key, value)
    for (const key of remove) fake.deleteTag(id, key)
    return volumeState(fake, id) ?? {}
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

interface VolumesRequest {
  readonly add?: readonly ({ readonly id: string } & VolumeOptions)[]
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
  readonly allow?: readonly string[]
  readonly fill?: readonly string[]
  readonly latencyMs?: number
  readonly buckets?: boolean
  readonly readLagMs?: number
  readonly youngVolumeMs?: number
  readonly adoptUnknown?: boolean
  readonly namesMissing?: boolean
  readonly namesDenied?: boolean
}

interface FaultsRequest extends Omit<FaultScope, 'times'>, Conditions {
  readonly fault?: Fault
  readonly times?: number | 'always'
  readonly clear?: boolean
  readonly release?: boolean
}

function setConditions(fake: Ec2Fake, conditions: Conditions): void {
  fake.deny(conditions.deny ?? [])
  fake.allow(conditions.allow ?? [])
  for (const id of conditions.fill ?? []) fake.fill(id)
  if (conditions.latencyMs !== undefined) fake.latencyMs = conditions.latencyMs
  if (conditions.buckets !== undefined) fake.enforceBuckets(conditions.buckets)
  if (conditions.adoptUnknown !== undefined) fake.adoptUnknownVolumes(conditions.adoptUnknown)
  fake.consistency(conditions)
  fake.messages(conditions)
}

function volumeState(fake: Ec2Fake, id: string): object | null {
  return fake.hasVolume(id) ? { tags: fake.tagsOf(id), changedAtMs: fake.changedAtMs(id) } : null
}

function json(status: number, value: object): HttpAnswer {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}
