/**
 * The only file that knows Google's error codes and reasons, in each form in which they arrive.
 *
 * Sources: the Compute Engine API's "Handling API errors" and rate limits; answers quoted in the issues of Terraform's
 * and others' Google providers; both majors of google-gax, whose errors differ.
 */
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts'
import { retryAfterMs } from '../retry-after.ts'

/** An answer of the API that was no success, as it came. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
  readonly httpStatus: number
  readonly body: string
  readonly retryAfter: string | undefined

  constructor(answer: { readonly status: number; readonly body: string; readonly retryAfter: string | undefined }) {
    super(`HTTP ${answer.status}`)
    this.httpStatus = answer.status
    this.body = answer.body
    this.retryAfter = answer.retryAfter
  }
}

/** No token was to be had, so nothing was sent. */
export class NoCredentials extends Error {
  override readonly name = 'NoCredentials'
}

/** The write was accepted, and the same answer says that it failed. */
export class FailedOperation extends Error {
  override readonly name = 'FailedOperation'
  readonly httpStatus: number
  readonly reason: string

  constructor(failure: { readonly status: number; readonly reason: string; readonly message: string }) {
    super(failure.message)
    this.httpStatus = failure.status
    this.reason = failure.reason
  }
}

/** By `errors[0].reason`, or by the reason in ErrorInfo, which newer answers have besides. */
const reasonsByKind: Readonly<Partial<Record<ProviderErrorKind, readonly string[]>>> = {
  throttled: [
    'RATE_LIMIT_EXCEEDED',
    'dailyLimitExceeded',
    // HTTP 403, like a missing permission.
    'rateLimitExceeded',
    'userRateLimitExceeded',
  ],
  conflict: [
    // Too many changes of this one disk; the rest of the project is not meant.
    'RESOURCE_OPERATION_RATE_EXCEEDED',
    'resourceOperationRateExceeded',
    // Another change of the disk is under way; a 400, though it is not the request that is wrong.
    'RESOURCE_NOT_READY',
    'conditionNotMet',
    'resourceNotReady',
  ],
  'not-found': ['RESOURCE_NOT_FOUND', 'notFound'],
  unavailable: ['backendError', 'internalError', 'serviceUnavailable'],
}

const kindByReason: ReadonlyMap<string, ProviderErrorKind> = new Map(
  Object.entries(reasonsByKind).flatMap(([kind, reasons]) =>
    reasons.map((reason) => [reason, kind as ProviderErrorKind]),
  ),
)

const kindByStatus: Readonly<Record<number, ProviderErrorKind>> = {
  400: 'invalid',
  401: 'denied',
  403: 'denied',
  404: 'not-found',
  409: 'conflict',
  412: 'conflict',
  429: 'throttled',
}

/** Node's codes for a request that never reached anybody. */
const neverSentCodes: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ERR_PROXY_TUNNEL',
])
const connectionCodes: ReadonlySet<string> = new Set([
  ...neverSentCodes,
  'AbortError',
  'ECONNABORTED',
  'ECONNRESET',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ETIMEDOUT',
  'TimeoutError',
])

/** Messages end in logs and Events. */
const messageLengthMax = 500
/** Quota is counted by the minutes of Google's clock; ours may be a little ahead. */
const clockDifferenceMs = 1000
/** An error's causes are a handful; a circle would have no end. */
const causesMax = 6

export interface CallContext {
  readonly kind: 'read' | 'write'
  readonly nowWallMs: number
}

/** What a failed SDK call means. What no table knows is 'unavailable', and keeps its name. */
export function toProviderError(thrown: unknown, { kind: call, nowWallMs }: CallContext): ProviderError {
  if (thrown instanceof ProviderError) return thrown
  const parts = partsOf(causesOf(thrown))
  const kind = kindOf(parts)
  return new ProviderError(kind, readable(parts.message), {
    cause: thrown,
    code: parts.code ?? (parts.status === undefined ? 'NoAnswer' : `HTTP ${parts.status}`),
    ...(kind === 'throttled' && { retryAfterMs: pauseMs(parts.retryAfter, nowWallMs) }),
    outcomeUnknown: call === 'write' && kind === 'unavailable' && mayHaveLanded(parts),
  })
}

export function isKnownCode(code: string): boolean {
  return kindByReason.has(code) || connectionCodes.has(code) || code === 'NoCredentials' || /^HTTP 5\d\d$/.test(code)
}

interface ErrorParts {
  /** The reason that Google gave, or the code of Node. */
  readonly code: string | undefined
  /** All reasons that it gave. */
  readonly reasons: readonly string[]
  readonly message: string
  readonly status: number | undefined
  readonly retryAfter: string | undefined
  /** It was for want of credentials: nothing was sent. */
  readonly notSent: boolean
  /** A proxy's page has a status, too. Only Google's own words say something about a disk. */
  readonly isGoogles: boolean
}

function kindOf({ code, isGoogles, notSent, reasons, status }: ErrorParts): ProviderErrorKind {
  if (notSent) return mayPass(code, status) ? 'unavailable' : 'denied'
  for (const reason of reasons) {
    const kind = kindByReason.get(reason)
    if (kind !== undefined) return kind
  }
  const kind = status === undefined ? undefined : kindByStatus[status]
  if ((kind === 'not-found' || kind === 'invalid') && !isGoogles) return 'unavailable'
  return kind ?? 'unavailable'
}

/** Why there are no credentials: the token server was not to be reached, rather than that it refused. */
function mayPass(code: string | undefined, status: number | undefined): boolean {
  if (status !== undefined) return status === 429 || status >= 500
  return code !== undefined && connectionCodes.has(code)
}

/** A clear refusal did nothing. A 5xx, an answer that cannot be read, and silence say nothing. */
function mayHaveLanded({ code, notSent, status }: ErrorParts): boolean {
  if (notSent) return false
  if (status !== undefined) return status < 400 || status >= 500
  return code === undefined || !neverSentCodes.has(code)
}

function pauseMs(retryAfter: string | undefined, nowWallMs: number): number {
  const untilNextMinuteMs = 60_000 - (nowWallMs % 60_000)
  return retryAfterMs(retryAfter, nowWallMs) ?? untilNextMinuteMs + clockDifferenceMs
}

/** The error and what it wraps, outermost first. */
function causesOf(thrown: unknown): readonly Error[] {
  const causes: Error[] = []
  for (let error = thrown; error instanceof Error && causes.length < causesMax; error = error.cause) causes.push(error)
  return causes.length > 0 ? causes : [new Error(String(thrown))]
}

function partsOf(causes: readonly Error[]): ErrorParts {
  for (const error of causes) {
    if (error instanceof RefusedRequest) return partsOfAnswer(error.body, error.httpStatus, error.retryAfter)
    if (error instanceof FailedOperation) {
      const { httpStatus: status, message, reason } = error
      return { ...nothingKnown, code: reason, reasons: [reason], message, status, isGoogles: true }
    }
  }
  return partsOfSdkError(causes)
}

const nothingKnown: ErrorParts = {
  code: undefined,
  reasons: [],
  message: '',
  status: undefined,
  retryAfter: undefined,
  notSent: false,
  isGoogles: false,
}

interface AnswerBody {
  readonly error?: {
    readonly message?: string
    readonly errors?: readonly { readonly reason?: string }[]
    readonly details?: readonly { readonly reason?: string }[]
  }
}

/** The body has `errors` always, and `details` where a newer front end wrote it. */
function partsOfAnswer(body: string, status: number, retryAfter: string | undefined): ErrorParts {
  const error = googleErrorIn(body)
  if (error === undefined) return { ...nothingKnown, message: `HTTP ${status}, not by the API`, status, retryAfter }
  const reasons = [...(error.errors ?? []), ...(error.details ?? [])].flatMap(({ reason }) => reason ?? [])
  const message = error.message ?? `HTTP ${status}`
  return { ...nothingKnown, code: reasons[0], reasons, message, status, retryAfter, isGoogles: true }
}

function googleErrorIn(text: string): AnswerBody['error'] {
  if (!text.startsWith('{')) return undefined
  try {
    return (JSON.parse(text) as AnswerBody).error
  } catch {
    return undefined
  }
}

/**
 * What gax makes of a failure itself: version 6 an error with `httpStatusCode`, the ErrorInfo's `reason` and a gRPC
 * number as its code; version 5 one with the HTTP number as its code and the body for a message.
 */
interface SdkError extends Error {
  readonly httpStatusCode?: unknown
  readonly status?: unknown
  readonly code?: unknown
  readonly reason?: unknown
  readonly response?: { readonly headers?: { get?(name: string): string | null } }
}

function partsOfSdkError(causes: readonly SdkError[]): ErrorParts {
  const notSent = causes.some((error) => error instanceof NoCredentials)
  const status = firstOf(causes, statusOf)
  const retryAfter = firstOf(causes, ({ response }) => response?.headers?.get?.('retry-after') ?? undefined)
  const code = firstOf(causes, ({ code }) => (typeof code === 'string' ? code : undefined))
  const message = causes[0]?.message ?? ''
  if (notSent) return { ...nothingKnown, code: code ?? 'NoCredentials', message, status, notSent }
  if (status === undefined) return { ...nothingKnown, code, message }
  if (googleErrorIn(message) !== undefined) return partsOfAnswer(message, status, retryAfter)
  const reason = firstOf(causes, ({ reason }) => (typeof reason === 'string' ? reason : undefined))
  const reasons = reason === undefined ? [] : [reason]
  return { ...nothingKnown, code: reason, reasons, message, status, retryAfter, isGoogles: true }
}

function statusOf({ code, httpStatusCode, status }: SdkError): number | undefined {
  // gRPC's numbers end at 16.
  return [httpStatusCode, status, code].find((value) => typeof value === 'number' && value >= 100) as number | undefined
}

function firstOf<Value>(causes: readonly SdkError[], read: (error: SdkError) => Value | undefined): Value | undefined {
  for (const error of causes) {
    const value = read(error)
    if (value !== undefined) return value
  }
  return undefined
}

/** In one line. */
function readable(message: string): string {
  const [first = ''] = message.split('\n')
  return first.length <= messageLengthMax ? first : `${first.slice(0, messageLengthMax - 1)}…`
}
