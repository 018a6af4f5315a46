// Compute Engine's REST interface: which call a request is, and how refusals are worded. Newer front ends add `details`
// with an ErrorInfo to the same error; both forms occur, and a client must understand either.
import type { IncomingHttpHeaders } from 'node:http'

export interface ErrorInfo {
  readonly reason: string
  readonly domain: string
}

export interface RefusalOptions {
  readonly status: number
  /** `errors[0].reason`, such as `rateLimitExceeded`. */
  readonly reason: string
  readonly domain?: string
  /** `error.status`, such as `PERMISSION_DENIED`. */
  readonly rpcStatus?: string
  readonly info?: ErrorInfo
  readonly retryAfterSeconds?: number | undefined
}

/** A refusal as Compute Engine words it. */
export class ComputeRefusal extends Error {
  readonly options: RefusalOptions

  constructor(message: string, options: RefusalOptions) {
    super(message)
    this.options = options
  }

  /** What the call log shows as its outcome. */
  get outcome(): string {
    return this.options.reason
  }

  body(withDetails: boolean): string {
    const { domain = 'global', info, reason, rpcStatus, status } = this.options
    const where = reason === 'conditionNotMet' ? { locationType: 'header', location: 'If-Match' } : {}
    const details = info === undefined ? [] : [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...info }]
    return JSON.stringify({
      error: {
        code: status,
        message: this.message,
        errors: [{ message: this.message, domain, reason, ...where }],
        ...(rpcStatus !== undefined && { status: rpcStatus }),
        ...(withDetails && details.length > 0 && { details }),
      },
    })
  }
}

export function notFound(resource: string): ComputeRefusal {
  return new ComputeRefusal(`The resource '${resource}' was not found`, {
    status: 404,
    reason: 'notFound',
    rpcStatus: 'NOT_FOUND',
  })
}

export function forbidden(permission: string, resource: string): ComputeRefusal {
  return new ComputeRefusal(`Required '${permission}' permission for '${resource}'`, {
    status: 403,
    reason: 'forbidden',
    rpcStatus: 'PERMISSION_DENIED',
    info: { reason: 'IAM_PERMISSION_DENIED', domain: 'iam.googleapis.com' },
  })
}

/** Over the quota of this minute. It says 403 where everybody else says 429. */
export function rateLimitExceeded(retryAfterSeconds?: number): ComputeRefusal {
  return new ComputeRefusal(
    "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service 'compute.googleapis.com'",
    {
      status: 403,
      reason: 'rateLimitExceeded',
      domain: 'usageLimits',
      rpcStatus: 'PERMISSION_DENIED',
      info: { reason: 'RATE_LIMIT_EXCEEDED', domain: 'googleapis.com' },
      retryAfterSeconds,
    },
  )
}

export function conditionNotMet(): ComputeRefusal {
  return new ComputeRefusal('Labels fingerprint either invalid or resource labels have changed', {
    status: 412,
    reason: 'conditionNotMet',
  })
}

export function resourceNotReady(resource: string): ComputeRefusal {
  return new ComputeRefusal(`The resource '${resource}' is not ready`, {
    status: 400,
    reason: 'resourceNotReady',
    info: { reason: 'RESOURCE_NOT_READY', domain: 'compute.googleapis.com' },
  })
}

export function invalid(message: string): ComputeRefusal {
  return new ComputeRefusal(message, {
    status: 400,
    reason: 'invalid',
    info: { reason: 'INVALID_FIELD_VALUE', domain: 'compute.googleapis.com' },
  })
}

export function unauthenticated(): ComputeRefusal {
  return new ComputeRefusal('Request had invalid authentication credentials.', {
    status: 401,
    reason: 'authError',
    rpcStatus: 'UNAUTHENTICATED',
    info: { reason: 'ACCESS_TOKEN_TYPE_UNSUPPORTED', domain: 'googleapis.com' },
  })
}

export function internal(message: string): ComputeRefusal {
  return new ComputeRefusal(message, { status: 500, reason: 'backendError', rpcStatus: 'INTERNAL' })
}

export interface ComputeRequest {
  /** Google's name of the call, such as `regionDisks.setLabels`. */
  readonly operation: string
  readonly project: string
  /** `projects/p/zones/z`, `projects/p/regions/r`, or `projects/p` for an aggregated list. */
  readonly parent: string
  /** The disk's or operation's name; undefined for lists. */
  readonly resource: string | undefined
  readonly query: URLSearchParams
  readonly fields: string | undefined
  readonly body: string
}

const diskPath = /^\/compute\/v1\/(projects\/([^/]+)\/(zones|regions)\/[^/]+)\/disks(?:\/([^/]+)(\/setLabels)?)?$/
const aggregatedPath = /^\/compute\/v1\/(projects\/([^/]+))\/aggregated\/disks$/
const operationPath = /^\/compute\/v1\/(projects\/([^/]+)\/(zones|regions)\/[^/]+)\/operations\/([^/]+)$/

/** Undefined for what this fake does not serve. */
export function parseRequest(
  method: string,
  url: URL,
  rest: { readonly headers: IncomingHttpHeaders; readonly body: string },
): ComputeRequest | undefined {
  const path = decodeURIComponent(url.pathname)
  const match = diskPath.exec(path) ?? aggregatedPath.exec(path) ?? operationPath.exec(path)
  if (match === null) return undefined
  const [, parent = '', project = '', kind, resource, verb] = match
  const operation = operationOf(method, { path, kind, resource, verb })
  if (operation === undefined) return undefined
  const mask = rest.headers['x-goog-fieldmask']
  return {
    operation,
    project,
    parent,
    resource,
    query: url.searchParams,
    fields: (typeof mask === 'string' ? mask : undefined) ?? url.searchParams.get('fields') ?? undefined,
    body: rest.body,
  }
}

interface Shape {
  readonly path: string
  readonly kind: string | undefined
  readonly resource: string | undefined
  readonly verb: string | undefined
}

function operationOf(method: string, { kind, path, resource, verb }: Shape): string | undefined {
  if (path.includes('/operations/')) return kind === 'regions' ? 'regionOperations.get' : 'zoneOperations.get'
  if (path.includes('/aggregated/')) return method === 'GET' ? 'disks.aggregatedList' : undefined
  const collection = kind === 'regions' ? 'regionDisks' : 'disks'
  if (verb !== undefined) return method === 'POST' ? `${collection}.setLabels` : undefined
  if (method !== 'GET') return undefined
  return resource === undefined ? `${collection}.list` : `${collection}.get`
}
