/**
 * The only file that knows the error codes of Azure Resource Manager, of Resource Graph, and of the SDK's credentials.
 *
 * Sources: "Troubleshoot common Azure Resource Manager errors", ARM's common API details for errors, the SDK's sources.
 * ARM's codes for refused tags are not documented: any 400 of ARM is about what was sent.
 */
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts'
import { retryAfterMs } from '../retry-after.ts'
import type { AnswerHeaders } from './quota-headers.ts'

/** Codes whose HTTP status does not say what they mean to us. */
const kindByCode: ReadonlyMap<string, ProviderErrorKind> = new Map([
  // A lock stays until a person takes it away, mostly from a whole resource group: no retry helps.
  ['ScopeLocked', 'denied'],
  ['ReadOnlyDisabledSubscription', 'denied'],
  // The disk's id comes from a volume in use: the subscription exists, and this identity may not see it.
  ['SubscriptionNotFound', 'denied'],
  ['InvalidSubscriptionId', 'not-found'],
  ['ServerBusy', 'throttled'],
])

const kindByStatus: ReadonlyMap<number, ProviderErrorKind> = new Map([
  [400, 'invalid'],
  [401, 'denied'],
  [403, 'denied'],
  [404, 'not-found'],
  [409, 'conflict'],
  [412, 'conflict'],
])

/** Codes of ARM that mean what 'unavailable' means. Any other with such a status is told by its name. */
const unavailableCodes: ReadonlySet<string> = new Set([
  'BadGateway',
  'GatewayTimeout',
  'InternalExecutionError',
  'InternalServerError',
  'OperationTimedOut',
  'RequestTimeout',
  'RetryableError',
  'ServerTimeout',
  'ServiceUnavailable',
])

/** What Entra ID, and the library that asks it, call a failure that is not about the identity. */
const tokenServiceCodes: ReadonlySet<string> = new Set([
  'endpoints_resolution_error',
  'network_error',
  'no_network_connectivity',
  'openid_config_error',
  'post_request_failed',
  'server_error',
  'temporarily_unavailable',
])

/** Codes of Node for a request that never reached anybody. */
const neverSentCodes: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ERR_PROXY_TUNNEL',
])
/** Codes of Node and of the SDK's HTTP client. */
const connectionCodes: ReadonlySet<string> = new Set([
  ...neverSentCodes,
  'AbortError',
  'ECONNABORTED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'PARSE_ERROR',
  'REQUEST_SEND_ERROR',
])

/** A Resource Graph page of more than 16 MB; fewer rows do. */
const tooLargeCode = 'ResponsePayloadTooLarge'

const lockdownAdvice =
  'Azure protects this resource group (in AKS: node resource group lockdown); the StorageClass parameter resourceGroup puts disks elsewhere'

/** Messages end in logs and Events. */
const messageLengthMax = 500

/** An answer of ARM with an error status. */
export class ArmRefusal extends Error {
  override readonly name = 'ArmRefusal'
  readonly status: number
  readonly headers: AnswerHeaders
  /** ARM's own code; undefined where something else answered, such as a proxy. */
  readonly code: string | undefined

  constructor(answer: { readonly status: number; readonly headers: AnswerHeaders; readonly body: unknown }) {
    const { code, message } = armErrorIn(answer.body)
    super(message ?? `HTTP ${answer.status} without an explanation`)
    this.status = answer.status
    this.headers = answer.headers
    this.code = code
  }
}

export interface CallContext {
  readonly kind: 'read' | 'write'
  readonly nowWallMs: number
}

/** What a failed call means. Unknown codes keep their name. */
export function toProviderError(thrown: unknown, context: CallContext): ProviderError {
  if (thrown instanceof ProviderError) return thrown
  return thrown instanceof ArmRefusal ? refused(thrown, context) : unanswered(thrown, context)
}

function refused(refusal: ArmRefusal, { kind: call, nowWallMs }: CallContext): ProviderError {
  const { code, headers, status } = refusal
  const kind = kindOf(refusal)
  const pauseMs = kind === 'throttled' ? pauseAskedFor(headers, nowWallMs) : undefined
  return new ProviderError(kind, readable(messageOf(refusal)), {
    cause: refusal,
    code: code ?? `HTTP ${status}`,
    ...(pauseMs !== undefined && { retryAfterMs: pauseMs }),
    // A clear refusal did nothing.
    outcomeUnknown: call === 'write' && kind === 'unavailable' && (status >= 500 || status === 408),
  })
}

function unanswered(thrown: unknown, { kind: call }: CallContext): ProviderError {
  const { code, message, status } = sdkErrorParts(thrown)
  return new ProviderError('unavailable', readable(message), {
    cause: thrown,
    code: code ?? (status === undefined ? 'NoAnswer' : `HTTP ${status}`),
    outcomeUnknown: call === 'write' && (code === undefined || !neverSentCodes.has(code)),
  })
}

/** Why no token was to be had. The call that needed it was not sent. */
export function toCredentialError(thrown: unknown): ProviderError {
  const { code, message, status } = tokenErrorParts(thrown)
  return new ProviderError(tokenErrorKind(code, status), readable(`no token: ${message}`), {
    cause: thrown,
    code: code ?? 'NoToken',
    outcomeUnknown: false,
  })
}

export function isKnownCode(code: string): boolean {
  return [unavailableCodes, connectionCodes, tokenServiceCodes].some((codes) => codes.has(code)) || kindByCode.has(code)
}

/** Whether fewer rows a page would have been answered. */
export function isPageTooLarge({ code }: ProviderError): boolean {
  return code === tooLargeCode
}

function kindOf({ code, status }: ArmRefusal): ProviderErrorKind {
  if (status === 429) return 'throttled'
  // A proxy's answer says nothing about the disk.
  if (code === undefined) return 'unavailable'
  return kindByCode.get(code) ?? kindByStatus.get(status) ?? 'unavailable'
}

function messageOf({ code, message }: ArmRefusal): string {
  return code === 'DenyAssignmentAuthorizationFailed' ? `${lockdownAdvice}. ${message}` : message
}

/** Seconds, or a date, or milliseconds in ARM's own headers, or Resource Graph's `00:00:05`. */
function pauseAskedFor(headers: AnswerHeaders, nowWallMs: number): number | undefined {
  for (const header of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const ms = Number(headers[header])
    if (headers[header] !== undefined && Number.isFinite(ms) && ms >= 0) return ms
  }
  const asked = retryAfterMs(headers['retry-after'], nowWallMs)
  if (asked !== undefined) return asked
  const [, hours, minutes, seconds] = /^(\d+):(\d{2}):(\d{2})/.exec(headers['x-ms-user-quota-resets-after'] ?? '') ?? []
  if (hours === undefined) return undefined
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
}

/** `{ error: { code, message, details } }`; the outer code may say less than the one inside. */
function armErrorIn(body: unknown): { readonly code?: string; readonly message?: string } {
  const error = (body as { readonly error?: unknown } | null | undefined)?.error
  if (typeof error !== 'object' || error === null) return {}
  const { code, details, message } = error as { code?: unknown; details?: unknown; message?: unknown }
  const inner: unknown = Array.isArray(details)
    ? details.find((detail: { code?: unknown } | null) => detail?.code === tooLargeCode)
    : undefined
  const named = inner === undefined ? code : tooLargeCode
  return {
    ...(typeof named === 'string' && named !== '' && { code: named }),
    ...(typeof message === 'string' && { message }),
  }
}

/** Entra ID refuses an identity with 4xx; what is neither its trouble nor the network's is missing configuration. */
function tokenErrorKind(code: string | undefined, status: number | undefined): ProviderErrorKind {
  if (status === 429) return 'throttled'
  if (status !== undefined && status >= 500) return 'unavailable'
  const isTrouble = code !== undefined && (tokenServiceCodes.has(code) || connectionCodes.has(code))
  return isTrouble ? 'unavailable' : 'denied'
}

/** The SDK wraps what its library threw, and keeps only the text of one of them: `code: explanation`. */
function tokenErrorParts(thrown: unknown): SdkErrorParts {
  const { code, message, status } = sdkErrorParts(thrown)
  const cause = thrown instanceof Error ? (thrown.cause as { errorCode?: unknown; status?: unknown } | undefined) : {}
  const [, named] = /^(\w+): /.exec(message) ?? []
  const known = named !== undefined && tokenServiceCodes.has(named) ? named : code
  return {
    code: typeof cause?.errorCode === 'string' ? cause.errorCode : known,
    message,
    status: typeof cause?.status === 'number' ? cause.status : status,
  }
}

interface SdkErrorParts {
  readonly code: string | undefined
  readonly message: string
  readonly status: number | undefined
}

/** What the SDK throws: a RestError, an error of its credentials, an AbortError, or one of Node's sockets. */
function sdkErrorParts(thrown: unknown): SdkErrorParts {
  if (!(thrown instanceof Error)) return { code: undefined, message: String(thrown), status: undefined }
  const { code, name, statusCode } = thrown as { code?: unknown; name?: string; statusCode?: unknown }
  // The language's own errors and the SDK's common one say nothing by their names.
  const ownName = name === undefined || /^(?:Type|Syntax|Range|Rest)?Error$/.test(name) ? undefined : name
  return {
    code: typeof code === 'string' ? code : ownName,
    message: thrown.message,
    status: typeof statusCode === 'number' ? statusCode : undefined,
  }
}

/** One line; Entra ID adds trace ids and advice below its first. */
function readable(message: string): string {
  const line = message.replace(/\s*\n\s*/gu, ' ').trim()
  return line.length <= messageLengthMax ? line : `${line.slice(0, messageLengthMax - 1)}…`
}
