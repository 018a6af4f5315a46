import { isDeepStrictEqual } from 'node:util'
import type { StatusCause } from './api-status.ts'
import { childOf, type JsonObject, type KubeObject, stringOf } from './objects.ts'

/** What one kind demands beyond the rules for all objects; `old` is there for an update. */
export type KindRules = (object: KubeObject, old: KubeObject | undefined) => StatusCause[]

const claimRule =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
const volumeRule = 'spec.persistentvolumesource is immutable after creation'

export const claimRules: KindRules = ({ spec, ...claim }, old) => {
  const causes: StatusCause[] = []
  if (!Array.isArray(spec?.['accessModes']) || spec['accessModes'].length === 0) {
    causes.push(required('spec.accessModes', ': at least 1 access mode is required'))
  }
  if (stringOf(childOf(childOf(spec, 'resources'), 'requests'), 'storage') === undefined) {
    causes.push(required('spec.resources[storage]'))
  }
  if (old !== undefined && !claimSpecMayBecome({ ...claim, ...(spec && { spec }) }, old)) {
    causes.push({ reason: 'FieldValueForbidden', message: `Forbidden: ${claimRule}`, field: 'spec' })
  }
  return causes
}

/** volumeName once, from empty; requests and the attributes class when bound; the storage class from nothing. */
function claimSpecMayBecome(object: KubeObject, old: KubeObject): boolean {
  const bound = stringOf(childOf(old, 'status'), 'phase') === 'Bound'
  const free = new Set(['volumeMode', ...(bound ? ['resources', 'volumeAttributesClassName'] : [])])
  for (const once of ['volumeName', 'storageClassName']) {
    if (old.spec?.[once] === undefined || (once === 'volumeName' && old.spec[once] === '')) free.add(once)
  }
  return isDeepStrictEqual(without(object.spec, free), without(old.spec, free))
}

const notSource: ReadonlySet<string> = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
])

export const volumeRules: KindRules = ({ spec }, old) => {
  if (old === undefined || isDeepStrictEqual(without(spec, notSource), without(old.spec, notSource))) return []
  const field = 'spec.persistentvolumesource'
  return [{ reason: 'FieldValueForbidden', message: `Forbidden: ${volumeRule}`, field }]
}

const noteLengthMax = 1024

/** Of an Event with an eventTime everything but its series is settled once it is written. */
export const eventRules: KindRules = (event, old) => {
  const causes: StatusCause[] = []
  const note = stringOf(event, 'note') ?? ''
  if (stringOf(event, 'eventTime') === undefined && stringOf(event, 'deprecatedFirstTimestamp') === undefined) {
    causes.push(required('eventTime'))
  }
  if (note.length > noteLengthMax)
    causes.push(invalidValue('message', '', `can have at most ${noteLengthMax} characters`))
  const type = stringOf(event, 'type') ?? ''
  if (type !== 'Normal' && type !== 'Warning') causes.push(invalidValue('type', '', `has invalid value: ${type}`))
  if (old === undefined || stringOf(old, 'eventTime') === undefined) return causes
  return [...causes, ...eventFields.flatMap(([field, name]) => changed(event[field], old[field], name))]
}

/** Stored name, and the name in complaints, which is that of core/v1. */
const eventFields: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['reason', 'reason'],
  ['note', 'message'],
  ['type', 'type'],
  ['eventTime', 'eventTime'],
  ['action', 'action'],
  ['related', 'related'],
  ['reportingController', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
]

export const leaseRules: KindRules = ({ spec }) => {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = spec ?? {}
  const causes: StatusCause[] = []
  if (typeof duration === 'number' && duration <= 0) {
    causes.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'))
  }
  if (typeof transitions === 'number' && transitions < 0) {
    causes.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'))
  }
  return causes
}

export function required(field: string, more = ''): StatusCause {
  return { reason: 'FieldValueRequired', message: `Required value${more}`, field }
}

export function invalidValue(field: string, value: unknown, why: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field }
}

function changed(value: unknown, old: unknown, field: string): StatusCause[] {
  return isDeepStrictEqual(value, old) ? [] : [invalidValue(field, value, 'field is immutable')]
}

function without(spec: JsonObject | undefined, fields: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(spec ?? {}).filter(([field]) => !fields.has(field)))
}
