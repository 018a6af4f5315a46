import { expect } from 'chai'
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts'
import { isAboutTags, isKnownCode, isUnexplained, toProviderError, volumesNamedIn } from './errors.ts'

const nowWallMs = 0
const write = { kind: 'write', nowWallMs } as const

/** As the SDK throws what EC2 answered. */
function answered(code: string, status: number, message = code, headers: Readonly<Record<string, string>> = {}): Error {
  return Object.assign(new Error(message), {
    name: code,
    Code: code,
    $metadata: { httpStatusCode: status, attempts: 1 },
    $response: { statusCode: status, headers },
  })
}

/** As Node's sockets fail. */
function broken(code: string, name = 'Error'): Error {
  return Object.assign(new Error(`connect ${code}`), { name, code, $metadata: { attempts: 1 } })
}

/** As the SDK throws what it cannot read. */
function unreadable(status: number): Error {
  return Object.assign(new Error('XML parse error: unexpected content.\n  Deserialization error: see $response'), {
    $metadata: { httpStatusCode: status },
    $response: { statusCode: status, headers: {} },
  })
}

interface Case {
  readonly when: string
  readonly thrown: unknown
  readonly kind: ProviderErrorKind
  readonly code: string
  readonly outcomeUnknown?: boolean
}

const cases: readonly Case[] = [
  ...table('throttled', [
    ['RequestLimitExceeded', 503],
    ['Throttling', 400],
    ['ThrottlingException', 400],
    ['TooManyRequestsException', 429],
    ['SlowDown', 503],
  ]),
  ...table('not-found', [
    ['InvalidVolume.NotFound', 400],
    ['InvalidID', 400],
    ['InvalidVolumeID.Malformed', 400],
  ]),
  ...table('denied', [
    ['UnauthorizedOperation', 403],
    ['AuthFailure', 401],
    ['AccessDenied', 403],
    ['InvalidClientTokenId', 403],
    ['ExpiredTokenException', 400],
    ['SignatureDoesNotMatch', 403],
    ['OptInRequired', 403],
    ['InvalidIdentityToken', 400],
    ['IDPRejectedClaim', 403],
  ]),
  ...table('invalid', [
    ['TagLimitExceeded', 400],
    ['InvalidParameterValue', 400],
    ['InvalidTagKey.Malformed', 400],
    ['TagPolicyViolation', 400],
    ['ResourceCountExceeded', 400],
    ['MissingParameter', 400],
  ]),
  ...table('unavailable', [
    ['RequestExpired', 400],
    ['IDPCommunicationError', 400],
    ['SomethingNewInEc2', 400],
  ]),
  ...table(
    'unavailable',
    [
      ['InternalError', 500],
      ['Unavailable', 503],
      ['SomethingNewInEc2', 500],
    ],
    true,
  ),
  { when: 'a 502 of some proxy', thrown: unreadable(502), kind: 'unavailable', code: 'HTTP 502', outcomeUnknown: true },
  { when: 'a 403 of some proxy', thrown: unreadable(403), kind: 'unavailable', code: 'HTTP 403' },
  { when: 'a 429 of some proxy', thrown: unreadable(429), kind: 'throttled', code: 'HTTP 429' },
  { when: 'an answer cut short', thrown: unreadable(200), kind: 'unavailable', code: 'HTTP 200', outcomeUnknown: true },
  {
    when: 'a connection that was cut',
    thrown: broken('ECONNRESET', 'TimeoutError'),
    kind: 'unavailable',
    code: 'ECONNRESET',
    outcomeUnknown: true,
  },
  { when: 'a refused connection', thrown: broken('ECONNREFUSED'), kind: 'unavailable', code: 'ECONNREFUSED' },
  { when: 'a proxy that refuses', thrown: broken('ERR_PROXY_TUNNEL'), kind: 'unavailable', code: 'ERR_PROXY_TUNNEL' },
  { when: 'a name that is not known', thrown: broken('ENOTFOUND'), kind: 'unavailable', code: 'ENOTFOUND' },
  {
    when: 'an aborted request',
    thrown: Object.assign(new Error('Request aborted'), { name: 'AbortError' }),
    kind: 'unavailable',
    code: 'AbortError',
    outcomeUnknown: true,
  },
  {
    when: 'no credentials',
    thrown: Object.assign(new Error('Could not load credentials'), { name: 'CredentialsProviderError' }),
    kind: 'denied',
    code: 'CredentialsProviderError',
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

function table(kind: ProviderErrorKind, codes: readonly (readonly [string, number])[], outcomeUnknown = false): Case[] {
  return codes.map(([code, status]) => ({
    when: `${code} (${status})`,
    thrown: answered(code, status),
    kind,
    code,
    outcomeUnknown,
  }))
}

describe('EC2 errors', () => {
  for (const { code, kind, outcomeUnknown = false, thrown, when } of cases) {
    it(`take ${when} for ${kind}${outcomeUnknown ? ', outcome unknown' : ''}`, () => {
      expect(toProviderError(thrown, write)).to.include({ kind, code, outcomeUnknown })
      expect(toProviderError(thrown, { kind: 'read', nowWallMs })).to.include({ kind, code, outcomeUnknown: false })
    })
  }

  it('keep what the SDK threw as the cause', () => {
    const thrown = answered('InternalError', 500)

    expect(toProviderError(thrown, write).cause).to.equal(thrown)
  })

  it('pass on how long a throttle asks to wait', () => {
    const throttled = answered('RequestLimitExceeded', 503, 'no', { 'retry-after': '7' })
    const gone = answered('InvalidVolume.NotFound', 400, 'no', { 'retry-after': '7' })

    expect(toProviderError(throttled, write).retryAfterMs).to.equal(7000)
    expect(toProviderError(gone, write).retryAfterMs).to.equal(undefined)
  })

  it('keep messages short and for people', () => {
    const encoded = `You are not authorized. Encoded authorization failure message: ${'x'.repeat(2000)}`

    expect(toProviderError(answered('UnauthorizedOperation', 403, encoded), write).message).to.equal(
      'You are not authorized.',
    )
    expect(toProviderError(answered('InvalidID', 400, 'y'.repeat(2000)), write).message).to.have.length(500)
    expect(toProviderError(unreadable(502), write).message).to.equal('XML parse error: unexpected content.')
  })

  it('leave a ProviderError as it is', () => {
    const error = new ProviderError('conflict', 'mine')

    expect(toProviderError(error, write)).to.equal(error)
  })

  it('name the volumes of a refusal, however many', () => {
    const ids = Array.from({ length: 300 }, (_, i) => `vol-${i.toString(16).padStart(17, '0')}`)
    const gone = answered('InvalidVolume.NotFound', 400, `The volumes '${ids.join(', ')}' do not exist.`)
    const denied = answered(
      'UnauthorizedOperation',
      403,
      'on resource: arn:aws:ec2:eu-west-1:1:volume/vol-0abcdef1 because',
    )
    const full = answered('TagLimitExceeded', 400, 'vol-0abcdef1')

    expect([...volumesNamedIn(toProviderError(gone, write))]).to.deep.equal(ids)
    expect([...volumesNamedIn(toProviderError(denied, write))]).to.deep.equal(['vol-0abcdef1'])
    expect(volumesNamedIn(toProviderError(full, write)).size).to.equal(0)
    expect(volumesNamedIn(toProviderError(answered('InvalidVolume.NotFound', 400), write)).size).to.equal(0)
  })

  it('tell what is about the tags from what is about the disk', () => {
    expect(isAboutTags(toProviderError(answered('InvalidParameterValue', 400), write))).to.equal(true)
    expect(isAboutTags(toProviderError(answered('TagLimitExceeded', 400), write))).to.equal(false)
    expect(isAboutTags(toProviderError(answered('UnauthorizedOperation', 403), write))).to.equal(false)
  })

  it('call unexplained only a clear refusal with a code that nobody knows', () => {
    const unexplained = (thrown: unknown) => isUnexplained(toProviderError(thrown, write))

    expect(unexplained(answered('SomethingNewInEc2', 400))).to.equal(true)
    expect(unexplained(answered('SomethingNewInEc2', 500))).to.equal(false)
    expect(unexplained(answered('RequestExpired', 400))).to.equal(false)
    expect(unexplained(unreadable(403))).to.equal(false)
    expect(unexplained(broken('ECONNREFUSED'))).to.equal(false)
  })

  it('know the names of failed connections', () => {
    expect(['ECONNRESET', 'TimeoutError', 'InternalError'].every(isKnownCode)).to.equal(true)
    expect(isKnownCode('SomethingNewInEc2')).to.equal(false)
  })
})
