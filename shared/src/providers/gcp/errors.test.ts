import { expect } from 'chai'
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts'
import { FailedOperation, isKnownCode, NoCredentials, RefusedRequest, toProviderError } from './errors.ts'

const write = { kind: 'write', nowWallMs: 15_000 } as const

/** The body of Compute Engine's refusals; with `info` as newer front ends write it. */
function bodyOf(status: number, reason: string, info?: string): string {
  return JSON.stringify({
    error: {
      code: status,
      message: `because of ${reason}`,
      errors: [{ message: `because of ${reason}`, domain: 'global', reason }],
      ...(info !== undefined && {
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: info, domain: 'googleapis.com' }],
      }),
    },
  })
}

/** As our transport throws it, and gax wraps it. */
function refused(status: number, body: string, retryAfter?: string): Error {
  const cause = new RefusedRequest({ status, body, retryAfter })
  return Object.assign(new Error(cause.message, { cause }), { code: 14 })
}

/** As gax 6 throws what it decoded itself: gRPC's number, and of the reasons only that of ErrorInfo. */
function fromGax6(status: number, grpc: number, reason?: string): Error {
  return Object.assign(new Error('it was refused'), { code: grpc, httpStatusCode: status, reason })
}

/** As gax 5 does: HTTP's number, and the body for a message. */
function fromGax5(status: number, body: string, retryAfter?: string): Error {
  const headers = new Headers(retryAfter === undefined ? {} : { 'retry-after': retryAfter })
  return Object.assign(new Error(body), { code: status, status, response: { status, headers } })
}

/** As a socket fails: Node's error in gaxios's in gax's. */
function broken(code: string): Error {
  const socket = Object.assign(new Error(`connect ${code}`), { code })
  const gaxios = Object.assign(new Error(`request failed, ${code}`, { cause: socket }), { code })
  return Object.assign(new Error(gaxios.message, { cause: gaxios }), { code: 14 })
}

interface Case {
  readonly when: string
  readonly thrown: unknown
  readonly kind: ProviderErrorKind
  readonly code: string
  readonly outcomeUnknown?: boolean
}

const html = '<html><title>Error 502 (Server Error)!!1</title>'

const answers: readonly (readonly [
  status: number,
  reason: string,
  info: string | undefined,
  kind: ProviderErrorKind,
])[] = [
  [403, 'rateLimitExceeded', undefined, 'throttled'],
  [403, 'rateLimitExceeded', 'RATE_LIMIT_EXCEEDED', 'throttled'],
  [403, 'userRateLimitExceeded', undefined, 'throttled'],
  [403, 'dailyLimitExceeded', undefined, 'throttled'],
  [403, 'quotaNobodyKnows', 'RATE_LIMIT_EXCEEDED', 'throttled'],
  [429, 'somethingNew', undefined, 'throttled'],
  [403, 'forbidden', 'IAM_PERMISSION_DENIED', 'denied'],
  [403, 'accessNotConfigured', 'SERVICE_DISABLED', 'denied'],
  [401, 'authError', undefined, 'denied'],
  [404, 'notFound', undefined, 'not-found'],
  [412, 'conditionNotMet', undefined, 'conflict'],
  [400, 'resourceNotReady', 'RESOURCE_NOT_READY', 'conflict'],
  [403, 'resourceOperationRateExceeded', undefined, 'conflict'],
  [409, 'alreadyExists', undefined, 'conflict'],
  [400, 'invalid', 'INVALID_FIELD_VALUE', 'invalid'],
  [400, 'badRequest', undefined, 'invalid'],
  [503, 'backendError', undefined, 'unavailable'],
  [500, 'somethingNew', undefined, 'unavailable'],
]

const cases: readonly Case[] = [
  ...answers.map(([status, reason, info, kind]) => ({
    when: `${status} ${reason}${info === undefined ? '' : `, ${info}`}`,
    thrown: refused(status, bodyOf(status, reason, info)),
    kind,
    code: reason,
    outcomeUnknown: kind === 'unavailable',
  })),
  ...answers.map(([status, reason, info, kind]) => ({
    when: `gax 5 throws ${status} ${reason}${info === undefined ? '' : `, ${info}`}`,
    thrown: fromGax5(status, bodyOf(status, reason, info)),
    kind,
    code: reason,
    outcomeUnknown: kind === 'unavailable',
  })),
  { when: 'gax 6 throws 412', thrown: fromGax6(412, 9), kind: 'conflict', code: 'HTTP 412' },
  {
    when: 'gax 6 throws a rate limit',
    thrown: fromGax6(403, 7, 'RATE_LIMIT_EXCEEDED'),
    kind: 'throttled',
    code: 'RATE_LIMIT_EXCEEDED',
  },
  {
    when: 'gax 6 throws a denial',
    thrown: fromGax6(403, 7, 'IAM_PERMISSION_DENIED'),
    kind: 'denied',
    code: 'IAM_PERMISSION_DENIED',
  },
  { when: 'gax 6 throws 404', thrown: fromGax6(404, 5), kind: 'not-found', code: 'HTTP 404' },
  { when: 'gax 6 throws 400', thrown: fromGax6(400, 3), kind: 'invalid', code: 'HTTP 400' },
  {
    when: 'gax 6 throws its own time-out',
    thrown: Object.assign(new Error('Deadline exceeded'), { code: 4 }),
    kind: 'unavailable',
    code: 'NoAnswer',
    outcomeUnknown: true,
  },
  {
    when: 'a page of a front end',
    thrown: refused(502, html),
    kind: 'unavailable',
    code: 'HTTP 502',
    outcomeUnknown: true,
  },
  { when: "a proxy's 404", thrown: refused(404, html), kind: 'unavailable', code: 'HTTP 404' },
  { when: "a proxy's 400", thrown: refused(400, '{"oops":1}'), kind: 'unavailable', code: 'HTTP 400' },
  { when: "a proxy's 403", thrown: refused(403, html), kind: 'denied', code: 'HTTP 403' },
  { when: 'a redirect', thrown: refused(302, ''), kind: 'unavailable', code: 'HTTP 302', outcomeUnknown: true },
  {
    when: 'broken JSON',
    thrown: refused(500, '{"error":'),
    kind: 'unavailable',
    code: 'HTTP 500',
    outcomeUnknown: true,
  },
  { when: 'nobody listens', thrown: broken('ECONNREFUSED'), kind: 'unavailable', code: 'ECONNREFUSED' },
  { when: 'the name is unknown', thrown: broken('ENOTFOUND'), kind: 'unavailable', code: 'ENOTFOUND' },
  {
    when: 'the proxy does not let it through',
    thrown: broken('ERR_PROXY_TUNNEL'),
    kind: 'unavailable',
    code: 'ERR_PROXY_TUNNEL',
  },
  {
    when: 'the connection was cut',
    thrown: broken('ECONNRESET'),
    kind: 'unavailable',
    code: 'ECONNRESET',
    outcomeUnknown: true,
  },
  {
    when: 'the answer cannot be read',
    thrown: new SyntaxError('Unexpected token <'),
    kind: 'unavailable',
    code: 'NoAnswer',
    outcomeUnknown: true,
  },
  { when: 'something else was thrown', thrown: 'oops', kind: 'unavailable', code: 'NoAnswer', outcomeUnknown: true },
  {
    when: 'there are no credentials',
    thrown: new Error('x', { cause: new NoCredentials('Could not load the default credentials') }),
    kind: 'denied',
    code: 'NoCredentials',
  },
  {
    when: 'the token server refuses',
    thrown: new NoCredentials('invalid_grant', { cause: fromGax5(400, '{"error":"invalid_grant"}') }),
    kind: 'denied',
    code: 'NoCredentials',
  },
  {
    when: 'the token server is down',
    thrown: new NoCredentials('down', { cause: fromGax5(503, 'not ready') }),
    kind: 'unavailable',
    code: 'NoCredentials',
  },
  {
    when: 'the token server is not there',
    thrown: new NoCredentials('down', { cause: broken('ECONNREFUSED') }),
    kind: 'unavailable',
    code: 'ECONNREFUSED',
  },
  {
    when: 'the operation failed for the tags',
    thrown: new FailedOperation({ status: 400, reason: 'INVALID_FIELD_VALUE', message: 'm' }),
    kind: 'invalid',
    code: 'INVALID_FIELD_VALUE',
  },
  {
    when: 'the operation failed by itself',
    thrown: new FailedOperation({ status: 503, reason: 'INTERNAL_ERROR', message: 'm' }),
    kind: 'unavailable',
    code: 'INTERNAL_ERROR',
    outcomeUnknown: true,
  },
]

describe("Google's errors", () => {
  for (const { code, kind, outcomeUnknown = false, thrown, when } of cases) {
    it(`are ${kind} when ${when}`, () => {
      const error = toProviderError(thrown, write)

      expect(error).to.include({ kind, code, outcomeUnknown })
      expect(error.cause).to.equal(thrown)
      expect(error.message).not.to.equal('')
    })
  }

  it('never leave the outcome of a read open', () => {
    expect(toProviderError(broken('ECONNRESET'), { ...write, kind: 'read' }).outcomeUnknown).to.equal(false)
  })

  it('are passed on when they are ours already', () => {
    const error = new ProviderError('conflict', 'raced')

    expect(toProviderError(error, write)).to.equal(error)
  })

  it("say Google's own words, in one line of bounded length", () => {
    const body = bodyOf(400, 'x').replaceAll('because of x', `first\\n${'y'.repeat(2000)}`)

    expect(toProviderError(refused(404, bodyOf(404, 'notFound')), write).message).to.equal('because of notFound')
    expect(toProviderError(refused(400, body), write).message).to.equal('first')
    expect(toProviderError(new Error('y'.repeat(2000)), write).message).to.have.length(500)
  })

  it('when throttled, ask for a wait until a second into the next minute', () => {
    const { retryAfterMs } = toProviderError(refused(403, bodyOf(403, 'rateLimitExceeded')), write)

    expect(retryAfterMs).to.equal(46_000)
  })

  it('when throttled, ask for the wait that the answer names', () => {
    for (const thrown of [
      refused(403, bodyOf(403, 'rateLimitExceeded'), '7'),
      fromGax5(403, bodyOf(403, 'rateLimitExceeded'), '7'),
    ]) {
      expect(toProviderError(thrown, write).retryAfterMs).to.equal(7000)
    }
  })

  it('ask for no wait otherwise', () => {
    expect(toProviderError(refused(503, bodyOf(503, 'backendError'), '7'), write).retryAfterMs).to.equal(undefined)
  })

  for (const [code, known] of [
    ['rateLimitExceeded', true],
    ['backendError', true],
    ['ECONNRESET', true],
    ['HTTP 502', true],
    ['NoCredentials', true],
    ['HTTP 418', false],
    ['somethingNew', false],
  ] as const) {
    it(`${known ? 'are known' : 'are to be told to an operator'} with the code ${code}`, () => {
      expect(isKnownCode(code)).to.equal(known)
    })
  }
})
