import { expect } from 'chai'
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts'
import { ArmRefusal, isKnownCode, isPageTooLarge, toCredentialError, toProviderError } from './errors.ts'

const nowWallMs = 0
const write = { kind: 'write', nowWallMs } as const
const read = { kind: 'read', nowWallMs } as const

/** As ARM answers. */
function refusal(status: number, code: string, options: Partial<{ message: string; headers: object }> = {}): Error {
  const { headers = {}, message = `${code} happened` } = options
  return new ArmRefusal({ status, headers: headers as Record<string, string>, body: { error: { code, message } } })
}

/** As something before ARM answers. */
function stranger(status: number): Error {
  return new ArmRefusal({ status, headers: {}, body: '<html>no</html>' })
}

/** As the SDK throws what got no answer. */
function broken(code: string, name = 'RestError'): Error {
  return Object.assign(new Error(`connect ${code}`), { name, code })
}

interface Case {
  readonly thrown: unknown
  readonly when: string
  readonly kind: ProviderErrorKind
  readonly code: string
  readonly outcomeUnknown?: boolean
}

const cases: readonly Case[] = [
  ...table('throttled', [
    [429, 'TooManyRequests'],
    [429, 'SubscriptionRequestsThrottled'],
    [429, 'OperationNotAllowed'],
    [429, 'RateLimiting'],
    [503, 'ServerBusy'],
  ]),
  ...table('denied', [
    [403, 'AuthorizationFailed'],
    [403, 'LinkedAuthorizationFailed'],
    [403, 'DenyAssignmentAuthorizationFailed'],
    [403, 'RequestDisallowedByPolicy'],
    [401, 'ExpiredAuthenticationToken'],
    [401, 'InvalidAuthenticationTokenTenant'],
    [404, 'SubscriptionNotFound'],
    [409, 'ScopeLocked'],
    [409, 'ReadOnlyDisabledSubscription'],
  ]),
  ...table('not-found', [
    [404, 'ResourceNotFound'],
    [404, 'ResourceGroupNotFound'],
    [400, 'InvalidSubscriptionId'],
  ]),
  ...table('conflict', [
    [409, 'Conflict'],
    [409, 'OperationNotAllowed'],
    [409, 'AnotherOperationInProgress'],
    [412, 'PreconditionFailed'],
  ]),
  ...table('invalid', [
    [400, 'TooManyTags'],
    [400, 'InvalidTagNameCharacters'],
    [400, 'SomethingNewAboutTags'],
  ]),
  ...table('unavailable', [[418, 'SomethingNew']]),
  ...table(
    'unavailable',
    [
      [500, 'InternalServerError'],
      [503, 'ServiceUnavailable'],
      [504, 'GatewayTimeout'],
      [408, 'RequestTimeout'],
      [500, 'SomethingNew'],
    ],
    true,
  ),
  { when: 'a 403 of some proxy', thrown: stranger(403), kind: 'unavailable', code: 'HTTP 403' },
  { when: 'a 404 of some proxy', thrown: stranger(404), kind: 'unavailable', code: 'HTTP 404' },
  { when: 'a 429 of some proxy', thrown: stranger(429), kind: 'throttled', code: 'HTTP 429' },
  { when: 'a 502 of some proxy', thrown: stranger(502), kind: 'unavailable', code: 'HTTP 502', outcomeUnknown: true },
  { when: 'a refused connection', thrown: broken('ECONNREFUSED'), kind: 'unavailable', code: 'ECONNREFUSED' },
  { when: 'a name that is not known', thrown: broken('ENOTFOUND'), kind: 'unavailable', code: 'ENOTFOUND' },
  { when: 'a proxy that refuses', thrown: broken('ERR_PROXY_TUNNEL'), kind: 'unavailable', code: 'ERR_PROXY_TUNNEL' },
  ...['ECONNRESET', 'REQUEST_SEND_ERROR', 'PARSE_ERROR'].map((code) => ({
    when: code,
    thrown: broken(code),
    kind: 'unavailable' as const,
    code,
    outcomeUnknown: true,
  })),
  {
    when: 'an aborted request',
    thrown: Object.assign(new Error('The operation was aborted.'), { name: 'AbortError' }),
    kind: 'unavailable',
    code: 'AbortError',
    outcomeUnknown: true,
  },
  {
    when: 'a bug',
    thrown: new TypeError('x is undefined'),
    kind: 'unavailable',
    code: 'NoAnswer',
    outcomeUnknown: true,
  },
  { when: 'no error at all', thrown: 'oops', kind: 'unavailable', code: 'NoAnswer', outcomeUnknown: true },
]

function table(kind: ProviderErrorKind, codes: readonly (readonly [number, string])[], outcomeUnknown = false): Case[] {
  return codes.map(([status, code]) => ({
    when: `${code} (${status})`,
    thrown: refusal(status, code),
    kind,
    code,
    outcomeUnknown,
  }))
}

describe('Azure errors', () => {
  for (const { code, kind, outcomeUnknown = false, thrown, when } of cases) {
    it(`take ${when} for ${kind}${outcomeUnknown ? ', outcome unknown' : ''}`, () => {
      expect(toProviderError(thrown, write)).to.include({ kind, code, outcomeUnknown })
      expect(toProviderError(thrown, read)).to.include({ kind, code, outcomeUnknown: false })
    })
  }

  it('keep what was thrown as the cause, and a ProviderError as it is', () => {
    const thrown = refusal(500, 'InternalServerError')
    const own = new ProviderError('conflict', 'mine')

    expect(toProviderError(thrown, write).cause).to.equal(thrown)
    expect(toProviderError(own, write)).to.equal(own)
  })

  for (const [headers, ms] of [
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 9000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'x-ms-retry-after-ms': '1500' }, 1500],
    [{ 'x-ms-user-quota-resets-after': '00:01:05' }, 65_000],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ] as const) {
    it(`pass on how long a throttle asks to wait: ${JSON.stringify(headers)}`, () => {
      const throttled = toProviderError(refusal(429, 'TooManyRequests', { headers }), write)
      const gone = toProviderError(refusal(404, 'ResourceNotFound', { headers }), write)

      expect([throttled.retryAfterMs, gone.retryAfterMs]).to.deep.equal([ms, undefined])
    })
  }

  it('advise what to do about a resource group that Azure protects', () => {
    const { message } = toProviderError(refusal(403, 'DenyAssignmentAuthorizationFailed'), write)

    expect(message).to.contain('StorageClass parameter resourceGroup')
  })

  it('keep messages short and on one line', () => {
    expect(toProviderError(refusal(400, 'x', { message: 'y'.repeat(2000) }), write).message).to.have.length(500)
    expect(toProviderError(refusal(400, 'x', { message: 'one\r\n two' }), write).message).to.equal('one two')
    expect(toProviderError(stranger(502), write).message).to.equal('HTTP 502 without an explanation')
  })

  it('find a page that is too large inside of what is called a bad request', () => {
    const details = [{ code: 'ResponsePayloadTooLarge', message: 'Response payload size is 17000000' }]
    const tooLarge = new ArmRefusal({ status: 400, headers: {}, body: { error: { code: 'BadRequest', details } } })

    expect(isPageTooLarge(toProviderError(tooLarge, read))).to.equal(true)
    expect(isPageTooLarge(toProviderError(refusal(400, 'BadRequest'), read))).to.equal(false)
  })

  it('know codes that mean what unavailable means, and no others', () => {
    expect(['ECONNRESET', 'InternalServerError', 'network_error', 'AbortError'].every(isKnownCode)).to.equal(true)
    expect(['SomethingNew', 'HTTP 502', 'UnreadableAnswer', 'toString'].some(isKnownCode)).to.equal(false)
  })
})

describe('errors of Azure credentials', () => {
  const wrapped = (message: string, cause?: object) =>
    Object.assign(new Error(message, cause && { cause }), { name: 'AuthenticationRequiredError' })

  for (const [when, thrown, kind, code] of [
    [
      'an identity that Entra ID does not know',
      wrapped('unauthorized_client: AADSTS700016', { errorCode: 'unauthorized_client', status: 400 }),
      'denied',
      'unauthorized_client',
    ],
    [
      'Entra ID in trouble',
      wrapped('temporarily_unavailable: later', { errorCode: 'temporarily_unavailable' }),
      'unavailable',
      'temporarily_unavailable',
    ],
    ['its 500', wrapped('x: y', { errorCode: 'x', status: 500 }), 'unavailable', 'x'],
    ['its throttle', wrapped('x: y', { errorCode: 'x', status: 429 }), 'throttled', 'x'],
    ['no network', wrapped('network_error: see', { errorCode: 'network_error' }), 'unavailable', 'network_error'],
    [
      'no network before anything else',
      Object.assign(new Error('endpoints_resolution_error: see'), { name: 'CredentialUnavailableError' }),
      'unavailable',
      'endpoints_resolution_error',
    ],
    [
      'a token file that is missing',
      wrapped("ENOENT: no such file or directory, open 'x'"),
      'denied',
      'AuthenticationRequiredError',
    ],
    [
      'no credential at all',
      Object.assign(new Error('ChainedTokenCredential authentication failed.'), {
        name: 'AggregateAuthenticationError',
      }),
      'denied',
      'AggregateAuthenticationError',
    ],
    ['no error at all', 'oops', 'denied', 'NoToken'],
  ] as const) {
    it(`take ${when} for ${kind}, with nothing sent`, () => {
      const error = toCredentialError(thrown)

      expect(error).to.include({ kind, code, outcomeUnknown: false })
      expect(error.message).to.match(/^no token: /)
      expect(toProviderError(error, write)).to.equal(error)
    })
  }
})
