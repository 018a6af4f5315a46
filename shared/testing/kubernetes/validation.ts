import { ApiStatusError, badRequest, invalid, type StatusCause } from './api-status.ts'
import { invalidValue, required } from './kind-rules.ts'
import { isJsonObject, type KubeObject } from './objects.ts'
import type { ResourceType } from './resource-types.ts'

const labelPart = /^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])$/
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const annotationsBytesMax = 256 * 1024
const partRule = "name part must consist of alphanumeric characters, '-', '_' or '.'"
const labelRule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.'"
const nameRule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'"

/** The rules that tests of ours can run into; everything else about an object is believed. Throws 422. */
export function validateObject(type: ResourceType, object: KubeObject, old?: KubeObject): void {
  const causes = [
    ...nameProblems(object),
    ...labelProblems(object),
    ...annotationProblems(object),
    ...identityProblems(object, old),
    ...type.rules(object, old),
  ]
  if (causes.length > 0) throw invalid(type, object.metadata.name, causes)
}

/** What the API server says when labels or annotations are not a map of strings. Throws 422. */
export function requireStringMaps({ metadata }: KubeObject): void {
  for (const field of ['labels', 'annotations'] as const) {
    const map: unknown = metadata[field]
    if (map === undefined || map === null) continue
    if (!isJsonObject(map)) throw undecodable(field, 'array', 'map[string]string')
    for (const [key, value] of Object.entries(map)) {
      // A null becomes the empty string, as Go decodes it.
      if (value === null) map[key] = ''
      else if (typeof value !== 'string') throw undecodable(field, typeof value, 'string')
    }
  }
}

/** A MicroTime has exactly six digits after the point; anything else cannot be decoded. Throws 400. */
export function requireMicroTimes(type: ResourceType, object: KubeObject): void {
  for (const path of type.microTimes) {
    const value = path.split('.').reduce<unknown>((at, field) => (isJsonObject(at) ? at[field] : undefined), object)
    if (value === undefined || value === null) continue
    if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[-+]\d\d:\d\d)$/.test(value)) continue
    const complaint = `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00"`
    throw badRequest(`${type.kind} in version "v1" cannot be handled as a ${type.kind}: ${complaint}`)
  }
}

function undecodable(field: string, found: string, wanted: string): ApiStatusError {
  const message = `json: cannot unmarshal ${found} into Go struct field ObjectMeta.metadata.${field} of type ${wanted}`
  return new ApiStatusError(422, 'Invalid', ` "" is invalid: patch: Invalid value: "…": ${message}`, {
    details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
  })
}

function nameProblems({ metadata: { name } }: KubeObject): StatusCause[] {
  if (name === '') return [required('metadata.name', ': name or generateName is required')]
  return subdomain.test(name) && name.length <= 253 ? [] : [invalidValue('metadata.name', name, nameRule)]
}

function labelProblems({ metadata }: KubeObject): StatusCause[] {
  const labels = Object.entries(metadata.labels ?? {})
  const badKeys = labels.filter(([key]) => !isQualifiedName(key))
  const badValues = labels.filter(([, value]) => value !== '' && !labelPart.test(value))
  return [
    ...badKeys.map(([key]) => invalidValue('metadata.labels', key, partRule)),
    ...badValues.map(([, value]) => invalidValue('metadata.labels', value, labelRule)),
  ]
}

function annotationProblems({ metadata }: KubeObject): StatusCause[] {
  const annotations = Object.entries(metadata.annotations ?? {})
  const causes = annotations
    .filter(([key]) => !isQualifiedName(key.toLowerCase()))
    .map(([key]) => invalidValue('metadata.annotations', key, partRule))
  const bytes = annotations.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  if (bytes > annotationsBytesMax) {
    const message = `Too long: may not be more than ${annotationsBytesMax} bytes`
    causes.push({ reason: 'FieldValueTooLong', message, field: 'metadata.annotations' })
  }
  return causes
}

function identityProblems({ metadata: { uid } }: KubeObject, old: KubeObject | undefined): StatusCause[] {
  return old === undefined || uid === old.metadata.uid ? [] : [invalidValue('metadata.uid', uid, 'field is immutable')]
}

function isQualifiedName(key: string): boolean {
  const slash = key.indexOf('/')
  return (slash === -1 || subdomain.test(key.slice(0, slash))) && labelPart.test(key.slice(slash + 1))
}
