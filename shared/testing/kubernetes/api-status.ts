import type { JsonObject } from './objects.ts'

export interface StatusCause {
  readonly reason: string
  readonly message: string
  readonly field: string
}

/** An answer other than success, in the wording of kube-apiserver 1.34: programs and people match on it. */
export class ApiStatusError extends Error {
  override readonly name = 'ApiStatusError'
  readonly code: number
  readonly reason: string
  readonly details: JsonObject | undefined
  /** Fields of the Status object's own metadata, such as the token to go on with after an expired one. */
  readonly listMeta: JsonObject
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: number,
    reason: string,
    message: string,
    more: { readonly details?: JsonObject; readonly listMeta?: JsonObject; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message)
    this.code = code
    this.reason = reason
    this.details = more.details
    this.listMeta = more.listMeta ?? {}
    this.retryAfterSeconds = more.retryAfterSeconds
  }

  toStatus(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.listMeta,
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    }
  }
}

/** The resource that an error speaks of; group and kind decide how its name is printed. */
export interface Subject {
  readonly group: string
  readonly plural: string
  readonly kind: string
}

function qualified(subject: Subject): string {
  return subject.group === '' ? subject.plural : `${subject.plural}.${subject.group}`
}

function detailsOf(subject: Subject, name: string, kind = subject.plural): JsonObject {
  return { ...(name === '' ? {} : { name }), ...(subject.group === '' ? {} : { group: subject.group }), kind }
}

export function badRequest(message: string): ApiStatusError {
  return new ApiStatusError(400, 'BadRequest', message)
}

export function unauthorized(): ApiStatusError {
  return new ApiStatusError(401, 'Unauthorized', 'Unauthorized')
}

export function notFound(subject: Subject, name: string): ApiStatusError {
  return new ApiStatusError(404, 'NotFound', `${qualified(subject)} "${name}" not found`, {
    details: detailsOf(subject, name),
  })
}

export function unknownResource(): ApiStatusError {
  return new ApiStatusError(404, 'NotFound', 'the server could not find the requested resource', { details: {} })
}

export function methodNotAllowed(): ApiStatusError {
  return new ApiStatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    { details: {} },
  )
}

export function alreadyExists(subject: Subject, name: string): ApiStatusError {
  return new ApiStatusError(409, 'AlreadyExists', `${qualified(subject)} "${name}" already exists`, {
    details: detailsOf(subject, name),
  })
}

export function conflict(subject: Subject, name: string, why: string): ApiStatusError {
  return new ApiStatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`,
    {
      details: detailsOf(subject, name),
    },
  )
}

export function modifiedMeanwhile(subject: Subject, name: string): ApiStatusError {
  return conflict(
    subject,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  )
}

export function unsupportedMediaType(): ApiStatusError {
  return new ApiStatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', { details: {} })
}

export function invalid(subject: Subject, name: string, causes: readonly StatusCause[]): ApiStatusError {
  const problems = causes.map((cause) => `${cause.field}: ${cause.message}`)
  const list = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`
  const kind = subject.group === '' ? subject.kind : `${subject.kind}.${subject.group}`
  return new ApiStatusError(422, 'Invalid', `${kind} "${name}" is invalid: ${list}`, {
    details: { ...detailsOf(subject, name, subject.kind), causes: [...causes] },
  })
}

/** All that the API server says of a JSON patch that does not apply, a failing `test` included: it names no operation. */
export function patchDoesNotApply(): ApiStatusError {
  return new ApiStatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {
    details: {},
  })
}

export function tooOldResourceVersion(asked: number, oldest: number): ApiStatusError {
  return new ApiStatusError(410, 'Expired', `too old resource version: ${asked} (${oldest})`)
}

export function internalError(message: string): ApiStatusError {
  return new ApiStatusError(500, 'InternalError', `Internal error occurred: ${message}`, {
    details: { causes: [{ message }] },
  })
}
