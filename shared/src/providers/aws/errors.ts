/**
 * The only file that knows EC2's error codes, and those of STS, which the SDK's credential chain lets through.
 *
 * Sources: the EC2 API reference "Error codes"; moto and the EBS CSI driver for those that it leaves out.
 */
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts'
import { retryAfterMs } from '../retry-after.ts'
import { volumeIdsIn } from './volume-id.ts'

const codesByKind: Readonly<Partial<Record<ProviderErrorKind, readonly string[]>>> = {
  throttled: [
    'EC2ThrottledException',
    'PriorRequestNotComplete',
    'RequestLimitExceeded',
    'RequestThrottled',
    'RequestThrottledException',
    'SlowDown',
    'ThrottledException',
    'Throttling',
    'ThrottlingException',
    'TooManyRequestsException',
  ],
  'not-found': [
    // A malformed id among the resources: no such disk either.
    'InvalidID',
    'InvalidVolume.NotFound',
    'InvalidVolumeID.Duplicate',
    'InvalidVolumeID.Malformed',
    'InvalidVolumeID.NotFound',
  ],
  denied: [
    'AccessDenied',
    'AccessDeniedException',
    'AuthFailure',
    'Blocked',
    'ExpiredToken',
    'ExpiredTokenException',
    'IDPRejectedClaim',
    'IncompleteSignature',
    'InvalidClientTokenId',
    'InvalidIdentityToken',
    'MissingAuthenticationToken',
    'OperationNotPermitted',
    'OptInRequired',
    'PendingVerification',
    'SignatureDoesNotMatch',
    'UnauthorizedOperation',
    'UnrecognizedClientException',
    // The SDK's own, when no credentials were to be had.
    'CredentialsProviderError',
    'TokenProviderError',
  ],
  invalid: [
    'FilterLimitExceeded',
    'InvalidInput',
    'InvalidParameter',
    'InvalidParameterCombination',
    'InvalidParameterValue',
    'InvalidRequest',
    'InvalidTagKey.Malformed',
    'MissingParameter',
    'ResourceCountExceeded',
    'TagLimitExceeded',
    'TagPolicyViolation',
    'UnsupportedOperation',
    'ValidationError',
  ],
  unavailable: [
    'IDPCommunicationError',
    'InternalError',
    'InternalFailure',
    'InternalServerError',
    // The SDK corrects its clock from the answer; the next call is right.
    'RequestExpired',
    'RequestTimeTooSkewed',
    'RequestTimeout',
    'RequestTimeoutException',
    'ServerInternal',
    'ServiceUnavailable',
    'Unavailable',
  ],
}

/** Codes of Node and of the SDK's HTTP handler for a request that never reached anybody. */
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
  'ETIMEDOUT',
  'NetworkingError',
  'TimeoutError',
])

const kindByCode: ReadonlyMap<string, ProviderErrorKind> = new Map(
  Object.entries(codesByKind).flatMap(([kind, codes]) => codes.map((code) => [code, kind as ProviderErrorKind])),
)

/** Refusals that depend on what else is on the disk. Every other 'invalid' is about the tags that were sent. */
const aboutTheDisk: ReadonlySet<string | undefined> = new Set(['TagLimitExceeded', 'UnsupportedOperation'])

/** Messages end in logs and Events. */
const messageLengthMax = 500

export interface CallContext {
  readonly kind: 'read' | 'write'
  readonly nowWallMs: number
}

/** What a failed SDK call means. Unknown codes are 'unavailable', and keep their name. */
export function toProviderError(thrown: unknown, context: CallContext): ProviderError {
  if (thrown instanceof ProviderError) return thrown
  const { code, message, retryAfter, status } = partsOf(thrown)
  const kind = kindOf(code, status)
  const pauseMs = kind === 'throttled' ? retryAfterMs(retryAfter, context.nowWallMs) : undefined
  return new ProviderError(kind, readable(message), {
    cause: thrown,
    code: code ?? (status === undefined ? 'NoAnswer' : `HTTP ${status}`),
    ...(pauseMs !== undefined && { retryAfterMs: pauseMs }),
    outcomeUnknown: context.kind === 'write' && kind === 'unavailable' && mayHaveLanded(code, status),
  })
}

export function isKnownCode(code: string): boolean {
  return kindByCode.has(code) || connectionCodes.has(code)
}

/** See `RefusalCodes`. */
export function isAboutTags({ code, kind }: ProviderError): boolean {
  return kind === 'invalid' && !aboutTheDisk.has(code)
}

/** See `RefusalCodes`. */
export function isUnexplained({ cause, code, kind }: ProviderError): boolean {
  if (kind !== 'unavailable' || code === undefined || isKnownCode(code)) return false
  const { code: ownCode, status = 0 } = partsOf(cause)
  return ownCode !== undefined && status >= 400 && status < 500
}

/** The volumes that EC2 names as the cause: those that do not exist, or the one that may not be touched. */
export function volumesNamedIn({ cause, kind }: ProviderError): ReadonlySet<string> {
  if (kind !== 'not-found' && kind !== 'denied') return new Set()
  return volumeIdsIn(partsOf(cause).message)
}

function kindOf(code: string | undefined, status: number | undefined): ProviderErrorKind {
  const known = code === undefined ? undefined : kindByCode.get(code)
  return known ?? (status === 429 ? 'throttled' : 'unavailable')
}

/** A clear refusal did nothing. A 5xx, an answer that cannot be read, and silence say nothing. */
function mayHaveLanded(code: string | undefined, status: number | undefined): boolean {
  if (status === undefined) return code === undefined || !neverSentCodes.has(code)
  return status < 400 || status >= 500
}

interface ErrorParts {
  readonly code: string | undefined
  readonly message: string
  readonly status: number | undefined
  readonly retryAfter: string | undefined
}

/** What the SDK throws: a service exception, a parse error with the response on it, or an error of Node's sockets. */
interface SdkError {
  readonly name?: string
  readonly Code?: string
  readonly code?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $response?: { readonly statusCode?: number; readonly headers?: Readonly<Record<string, string>> }
}

function partsOf(thrown: unknown): ErrorParts {
  if (!(thrown instanceof Error)) {
    return { code: undefined, message: String(thrown), status: undefined, retryAfter: undefined }
  }
  const { $metadata, $response } = thrown as SdkError
  return {
    code: codeOf(thrown),
    message: thrown.message,
    status: $metadata?.httpStatusCode ?? $response?.statusCode,
    retryAfter: $response?.headers?.['retry-after'],
  }
}

function codeOf({ Code, code, name }: SdkError): string | undefined {
  const nodeCode = typeof code === 'string' ? code : undefined
  // An exception of the service bears its code as its name; the language's own errors say nothing by theirs.
  const ownName = name !== undefined && /^(?:Type|Syntax|Range)?Error$/.test(name) ? undefined : name
  return Code ?? nodeCode ?? ownName
}

/** Without the encoded authorization message (a kilobyte for a machine) and the SDK's advice to its own users. */
function readable(message: string): string {
  const [first = ''] = message.split(/\s*(?:Encoded authorization failure message:|\n)/u)
  return first.length <= messageLengthMax ? first : `${first.slice(0, messageLengthMax - 1)}…`
}
