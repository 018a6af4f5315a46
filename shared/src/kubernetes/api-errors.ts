import { timestampMs } from '../runtime/timestamps.ts'
import { asObject, numberAt, objectAt, parseObject, stringAt, type JsonObject } from './json.ts'
import { KubernetesError, type KubernetesErrorKind } from './kubernetes-error.ts'

export interface FailedAnswer {
  readonly status: number
  /** The `Retry-After` header: seconds or an HTTP date. */
  readonly retryAfter: string | undefined
  readonly body: string
  /** Whether the request was a JSON patch. */
  readonly jsonPatch: boolean
  readonly nowWallMs: number
}

/** The one place where an answer other than 2xx gets its meaning. */
export function answerError(answer: FailedAnswer): KubernetesError {
  const status = parseObject(answer.body)
  const retryAfterMs = retryAfterHeaderMs(answer.retryAfter, answer.nowWallMs) ?? retryAfterDetailMs(status)
  return new KubernetesError(kindOf(answer, status), messageOf(answer, status), {
    status: answer.status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** The Status object of a watch's ERROR event. */
export function watchEventError(object: unknown): KubernetesError {
  const status = asObject(object)
  const code = numberAt(status, 'code')
  const gone = code === 410 || stringAt(status, 'reason') === 'Expired' || stringAt(status, 'reason') === 'Gone'
  const retryAfterMs = retryAfterDetailMs(status)
  return new KubernetesError(gone ? 'gone' : kindOfCode(code ?? 500), stringAt(status, 'message') ?? 'watch failed', {
    ...(code === undefined ? {} : { status: code }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** What went wrong before there was an answer, or in the middle of one. */
export function connectionError(error: unknown): KubernetesError {
  if (error instanceof KubernetesError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new KubernetesError('unavailable', `API server not reached: ${message}`, { cause: error })
}

function kindOf(answer: FailedAnswer, status: JsonObject | undefined): KubernetesErrorKind {
  if (answer.jsonPatch && answer.status === 422 && !namesCause(status)) return 'conflict'
  return kindOfCode(answer.status)
}

// Measured on kube-apiserver 1.34: a JSON patch whose `test` fails answers 422 with `details: {}`, an object that breaks
// a validation or an admission policy 422 with the object's name and the causes.
function namesCause(status: JsonObject | undefined): boolean {
  const details = objectAt(status, 'details')
  const causes = details?.['causes']
  return stringAt(details, 'name') !== undefined || (Array.isArray(causes) && causes.length > 0)
}

function kindOfCode(code: number): KubernetesErrorKind {
  switch (code) {
    case 401:
    case 403:
      return 'denied'
    case 404:
      return 'not-found'
    case 409:
      return 'conflict'
    case 410:
      return 'gone'
    case 429:
      return 'throttled'
    default:
      return code >= 400 && code < 500 && code !== 408 ? 'invalid' : 'unavailable'
  }
}

function messageOf(answer: FailedAnswer, status: JsonObject | undefined): string {
  const message = stringAt(status, 'message') ?? answer.body
  // A proxy's page or an echoed object can be long; the beginning says what is wrong.
  return `${answer.status}: ${message.slice(0, 500)}`
}

function retryAfterHeaderMs(header: string | undefined, nowWallMs: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const atMs = timestampMs(header)
  return atMs === undefined ? undefined : Math.max(0, atMs - nowWallMs)
}

function retryAfterDetailMs(status: JsonObject | undefined): number | undefined {
  const seconds = numberAt(objectAt(status, 'details'), 'retryAfterSeconds')
  return seconds === undefined || seconds <= 0 ? undefined : seconds * 1000
}
