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
  readonly name: string
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly volumeName: string | undefined
  readonly deleting: boolean
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
    object: reviewedClaim(request['object']),
    oldObject: reviewedClaim(request['oldObject']),
  }
}

function reviewedClaim(object: unknown): ReviewedClaim | undefined {
  if (!isObject(object) || !isObject(object['metadata'])) return undefined
  const { metadata } = object
  const namespace = text(metadata['namespace'])
  const name = text(metadata['name'])
  if (namespace === undefined || name === undefined) return undefined
  return {
    namespace,
    name,
    uid: text(metadata['uid']),
    resourceVersion: text(metadata['resourceVersion']),
    volumeName: isObject(object['spec']) ? text(object['spec']['volumeName']) : undefined,
    deleting: metadata['deletionTimestamp'] !== undefined && metadata['deletionTimestamp'] !== null,
  }
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
}

export const allowed: Answer = { allowed: true }

export function encodeAnswer(uid: string, answer: Answer): string {
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed: answer.allowed,
      ...(answer.message !== undefined && { status: { code: 403, reason: 'Forbidden', message: answer.message } }),
      ...(answer.warnings !== undefined && answer.warnings.length > 0 && { warnings: answer.warnings }),
    },
  })
}
