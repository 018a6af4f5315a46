import type { Cloud } from '../claims/disk-sources.ts'
import { isoTimestamp, timestampMs } from '../runtime/timestamps.ts'
import type { AppliedRecord, Intent, LeftReason, LeftTag, OwnedTag, TouchedTag } from './applied-record.ts'

/** Raised when a field changes its meaning. An older program meets a newer record in a rollback: it then only adds tags. */
export const recordVersion = 1

export type ParsedRecord =
  | { readonly kind: 'none' }
  | { readonly kind: 'record'; readonly record: AppliedRecord }
  /** Somebody's version that we do not know, or no record at all: it licenses nothing and is left as it is. */
  | { readonly kind: 'unreadable'; readonly problem: string }

export function serializeRecord(record: AppliedRecord): string {
  return JSON.stringify({
    version: recordVersion,
    volume: record.volumeUid,
    claim: record.claimUid,
    cloud: record.cloud,
    disk: record.diskId,
    settledAt: isoTimestamp(record.settledAtMs),
    settled: Object.fromEntries(record.settled),
    ...(record.left.size > 0 && { left: Object.fromEntries(record.left) }),
    ...(record.intent !== undefined && { intent: intentToJson(record.intent) }),
    ...(record.yieldsTo !== undefined && { yieldsTo: record.yieldsTo }),
  })
}

function intentToJson(intent: Intent): object {
  return {
    by: intent.by,
    until: isoTimestamp(intent.untilMs),
    touched: Object.fromEntries(intent.touched),
  }
}

export function parseRecord(annotation: string | undefined): ParsedRecord {
  if (annotation === undefined) return { kind: 'none' }
  let json: unknown
  try {
    json = JSON.parse(annotation)
  } catch {
    return unreadable('it is not JSON')
  }
  if (!isObject(json)) return unreadable('it is not an object')
  if (json['version'] !== recordVersion)
    return unreadable(`its version is ${JSON.stringify(json['version'])?.slice(0, 32)}`)
  const record = recordFromJson(json)
  return record === undefined ? unreadable('a field is missing or of the wrong type') : { kind: 'record', record }
}

function unreadable(problem: string): ParsedRecord {
  return { kind: 'unreadable', problem }
}

type JsonObject = Readonly<Record<string, unknown>>

function recordFromJson(json: JsonObject): AppliedRecord | undefined {
  const subject = subjectFromJson(json)
  const settledAtMs = timeMs(json['settledAt'])
  const settled = mapOf(json['settled'], ownedTag)
  const left = mapOf(json['left'] ?? {}, leftTag)
  const intent = json['intent'] === undefined ? undefined : intentFromJson(json['intent'])
  if (subject === undefined || settledAtMs === undefined || settled === undefined || left === undefined)
    return undefined
  // An intent that cannot be read is an error, never "no intent": a write may be under way.
  if (json['intent'] !== undefined && intent === undefined) return undefined
  const record = { ...subject, settledAtMs, settled, left, intent }
  return typeof json['yieldsTo'] === 'string' ? { ...record, yieldsTo: json['yieldsTo'] } : record
}

function subjectFromJson(
  json: JsonObject,
): Pick<AppliedRecord, 'volumeUid' | 'claimUid' | 'cloud' | 'diskId'> | undefined {
  const { volume, claim, cloud, disk } = json
  if (typeof volume !== 'string' || typeof claim !== 'string' || typeof disk !== 'string') return undefined
  return isCloud(cloud) ? { volumeUid: volume, claimUid: claim, cloud, diskId: disk } : undefined
}

function intentFromJson(json: unknown): Intent | undefined {
  if (!isObject(json) || typeof json['by'] !== 'string') return undefined
  const untilMs = timeMs(json['until'])
  const touched = mapOf(json['touched'], touchedTag)
  if (untilMs === undefined || touched === undefined) return undefined
  return { by: json['by'], untilMs, touched }
}

function ownedTag(json: unknown): OwnedTag | undefined {
  if (!isObject(json) || typeof json['value'] !== 'string' || typeof json['before'] !== 'boolean') return undefined
  return { value: json['value'], before: json['before'] }
}

function leftTag(json: unknown): LeftTag | undefined {
  if (!isObject(json) || typeof json['value'] !== 'string') return undefined
  const reason = json['reason']
  return isLeftReason(reason) ? { value: json['value'], reason } : undefined
}

function isCloud(cloud: unknown): cloud is Cloud {
  return cloud === 'aws' || cloud === 'gcp' || cloud === 'azure' || cloud === 'mock'
}

function isLeftReason(reason: unknown): reason is LeftReason {
  return reason === 'kept' || reason === 'over-limit'
}

function touchedTag(json: unknown): TouchedTag | undefined {
  if (!isObject(json) || typeof json['before'] !== 'boolean') return undefined
  const values: unknown = json['values']
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string')) return undefined
  return { values, before: json['before'] }
}

function mapOf<T>(json: unknown, decode: (value: unknown) => T | undefined): Map<string, T> | undefined {
  if (!isObject(json)) return undefined
  const map = new Map<string, T>()
  for (const [key, value] of Object.entries(json)) {
    const decoded = decode(value)
    if (decoded === undefined) return undefined
    map.set(key, decoded)
  }
  return map
}

function timeMs(json: unknown): number | undefined {
  return typeof json === 'string' ? timestampMs(json) : undefined
}

function isObject(json: unknown): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}
