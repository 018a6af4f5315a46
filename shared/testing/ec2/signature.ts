import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AwsFault } from './wire.ts'

export interface SignedRequest {
  readonly method: string
  /** Path and query as they stand in the request line. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface SignatureExpectation {
  readonly service: string
  readonly region: string
  readonly nowMs: number
  /** Throws for a key that may not call. */
  readonly secretOf: (accessKeyId: string, sessionToken: string | undefined) => string
}

const skewMaxMs = 5 * 60_000

interface Claim {
  readonly accessKeyId: string
  readonly date: string
  readonly region: string
  readonly service: string
  readonly signedHeaders: string
  readonly signature: string
}

/** AWS Signature Version 4 in the Authorization header. Throws as EC2 does where it is missing or wrong. */
export function checkSignature(request: SignedRequest, expected: SignatureExpectation): void {
  const claim = parseAuthorization(request.headers.authorization)
  const timestamp = single(request.headers['x-amz-date']) ?? ''
  checkTime(timestamp, claim.date, expected.nowMs)
  if (claim.region !== expected.region || claim.service !== expected.service) {
    const scope = `${claim.region}/${claim.service}`
    throw new AwsFault('AuthFailure', `Credential should be scoped to a valid region and service, not '${scope}'`, 401)
  }
  const secret = expected.secretOf(claim.accessKeyId, single(request.headers['x-amz-security-token']))
  const scope = [claim.date, claim.region, claim.service, 'aws4_request']
  const key = scope.reduce<string | Buffer>((key, part) => hmac(key, part), `AWS4${secret}`)
  const digest = sha256(canonicalRequest(request, claim.signedHeaders))
  const right = hmac(key, ['AWS4-HMAC-SHA256', timestamp, scope.join('/'), digest].join('\n'))
  if (!timingSafeEqual(right, Buffer.from(claim.signature, 'hex'))) {
    throw new AwsFault(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided.',
      403,
    )
  }
}

const authorizationForm =
  /^AWS4-HMAC-SHA256 Credential=(?<accessKeyId>[^/]+)\/(?<date>\d{8})\/(?<region>[^/]+)\/(?<service>[^/]+)\/aws4_request, ?SignedHeaders=(?<signedHeaders>[^,]+), ?Signature=(?<signature>[0-9a-f]{64})$/

function parseAuthorization(header: string | undefined): Claim {
  if (header === undefined) {
    throw new AwsFault('MissingAuthenticationToken', 'Request is missing Authentication Token', 403)
  }
  const groups = authorizationForm.exec(header)?.groups
  if (groups === undefined) throw new AwsFault('IncompleteSignature', 'Authorization header is malformed')
  return groups as unknown as Claim
}

function checkTime(timestamp: string, date: string, nowMs: number): void {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(timestamp) ?? []
  const atMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(atMs) || !timestamp.startsWith(date)) {
    throw new AwsFault('IncompleteSignature', 'X-Amz-Date is missing or malformed')
  }
  if (Math.abs(atMs - nowMs) > skewMaxMs) throw new AwsFault('RequestExpired', 'Request has expired.')
}

function canonicalRequest({ method, url, headers, body }: SignedRequest, signedHeaders: string): string {
  const [path = '/', query = ''] = url.split('?', 2)
  const canonicalHeaders = signedHeaders
    .split(';')
    .map((name) => `${name}:${(single(headers[name]) ?? '').trim().replaceAll(/ +/g, ' ')}\n`)
    .join('')
  const canonicalQuery = query.split('&').toSorted().join('&')
  return [method, path, canonicalQuery, canonicalHeaders, signedHeaders, sha256(body)].join('\n')
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
