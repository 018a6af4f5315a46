import { lastAppliedAnnotation } from '@k8s-cloud-tagger/shared/claims/annotations.ts'
import { claimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { Claim } from '@k8s-cloud-tagger/shared/claims/claim.ts'
import type { PatchOperation } from './json-patch.ts'

/** The part of an admission.k8s.io/v1 request that we read. Callers are anonymous: nothing in it is acted on, only looked up. */
export interface ReviewRequest {
  readonly uid: string
  readonly operation: string
  readonly resource: { readonly group: string; readonly resource: string }
  readonly subResource: string | undefined
  readonly dryRun: boolean
  readonly object: ReviewedClaim | undefined
  readonly oldObject: ReviewedClaim | undefined
}

export interface ReviewedClaim {
  readonly namespace: string
  /** Undefined where `generateName` is to make one: mutating webhooks come first. */
  readonly name: string | undefined
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly volumeName: string | undefined
  readonly storageClassName: string | undefined
  readonly labels: Readonly<Record<string, string>>
  /** Without kubectl's copy of the object. */
  readonly annotations: Readonly<Record<string, string>>
  /** Whether `metadata.labels` is there to add to. */
  readonly hasLabels: boolean
  readonly deleting: boolean
}

/** A reviewed claim as the rules take it. It may never be stored, so what only stored objects have is empty. */
export function asClaim(reviewed: ReviewedClaim): Claim {
  const { namespace, name = '', uid = '', resourceVersion = '' } = reviewed
  const { volumeName, storageClassName, labels, annotations, deleting } = reviewed
  return {
    key: claimKey(namespace, name),
    namespace,
    name,
    uid,
    resourceVersion,
    createdAtMs: 0,
    labels,
    annotations,
    volumeName,
    storageClassName,
    deleting,
  }
}

export type DecodedReview =
  | { readonly kind: 'review'; readonly request: ReviewRequest }
  /** What the body is instead of a review that we can answer, as a sentence for its sender. */
  | { readonly kind: 'malformed'; readonly problem: string }

export function decodeReview(body: string): DecodedReview {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch (error) {
    return malformed(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!isObject(json)) return malformed('the body is not an AdmissionReview')
  if (json['kind'] !== 'AdmissionReview') return malformed(`kind must be AdmissionReview, not ${shown(json['kind'])}`)
  if (json['apiVersion'] !== 'admission.k8s.io/v1') {
    return malformed(`apiVersion must be admission.k8s.io/v1, not ${shown(json['apiVersion'])}`)
  }
  const request = json['request']
  if (!isObject(request)) return malformed('the review has no request')
  const { uid, operation } = request
  if (typeof uid !== 'string' || uid === '') return malformed('request.uid is missing')
  if (typeof operation !== 'string') return malformed('request.operation is missing')
  return { kind: 'review', request: requestFrom(request, uid, operation) }
}

function requestFrom(request: JsonObject, uid: string, operation: string): ReviewRequest {
  const resource = isObject(request['resource']) ? request['resource'] : {}
  return {
    uid,
    operation,
    resource: { group: text(resource['group']) ?? '', resource: text(resource['resource']) ?? '' },
    subResource: text(request['subResource']),
    dryRun: request['dryRun'] === true,
    object: reviewedClaim(request['object'], request),
    oldObject: reviewedClaim(request['oldObject'], request),
  }
}

function reviewedClaim(object: unknown, request: JsonObject): ReviewedClaim | undefined {
  if (!isObject(object) || !isObject(object['metadata'])) return undefined
  const { metadata } = object
  const namespace = text(metadata['namespace']) ?? text(request['namespace'])
  if (namespace === undefined) return undefined
  const spec = isObject(object['spec']) ? object['spec'] : {}
  const annotations = stringsOf(metadata['annotations'])
  return {
    namespace,
    name: text(metadata['name']),
    uid: text(metadata['uid']),
    resourceVersion: text(metadata['resourceVersion']),
    volumeName: text(spec['volumeName']),
    storageClassName: text(spec['storageClassName']) ?? text(annotations[storageClassAnnotation]),
    labels: stringsOf(metadata['labels']),
    annotations: without(lastAppliedAnnotation, annotations),
    hasLabels: isObject(metadata['labels']),
    deleting: metadata['deletionTimestamp'] !== undefined && metadata['deletionTimestamp'] !== null,
  }
}

/** The form of a class before `spec.storageClassName`; Kubernetes still takes it. */
const storageClassAnnotation = 'volume.beta.kubernetes.io/storage-class'

const noStrings: Readonly<Record<string, string>> = Object.freeze({})

/** The map itself where all of it is text, as it is from an API server. */
function stringsOf(map: unknown): Readonly<Record<string, string>> {
  if (!isObject(map)) return noStrings
  const entries = Object.entries(map)
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return texts.length === entries.length ? (map as Record<string, string>) : Object.fromEntries(texts)
}

function without(key: string, map: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (!Object.hasOwn(map, key)) return map
  const { [key]: _, ...rest } = map
  return rest
}

type JsonObject = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An empty text is an absent one: Go writes both. */
function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Never the whole value: it may be nested too deeply to be written. */
function shown(value: unknown): string {
  if (value === undefined) return 'absent'
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 64))
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : `${value as number | boolean | null}`
}

function malformed(problem: string): DecodedReview {
  return { kind: 'malformed', problem }
}

export interface Answer {
  readonly allowed: boolean
  readonly message?: string
  /** At most 120 characters each. */
  readonly warnings?: readonly string[]
  /** Of a mutating webhook; an empty one is left out, since a type without a patch makes the answer invalid. */
  readonly patch?: readonly PatchOperation[]
}

export const allowed: Answer = { allowed: true }

export function encodeAnswer(uid: string, { allowed, message, warnings = [], patch = [] }: Answer): string {
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed,
      ...(message !== undefined && { status: { code: 403, reason: 'Forbidden', message } }),
      ...(warnings.length > 0 && { warnings }),
      ...(patch.length > 0 && { patchType: 'JSONPatch', patch: base64(JSON.stringify(patch)) }),
    },
  })
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
