import { expect } from 'chai'
import { answerError, connectionError, watchEventError, type FailedAnswer } from './api-errors.ts'
import { KubernetesError, type KubernetesErrorKind } from './kubernetes-error.ts'

const nowWallMs = Date.UTC(2026, 0, 1)

function status(fields: object): string {
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', ...fields })
}

// As kube-apiserver 1.34 words them.
const failedTest = status({
  message: 'the server rejected our request due to an error in our request',
  reason: 'Invalid',
  details: {},
  code: 422,
})
const deniedByPolicy = status({
  message: `persistentvolumes "pv-1" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no`,
  reason: 'Invalid',
  details: { name: 'pv-1', kind: 'persistentvolumes', causes: [{ message: 'denied request: no' }] },
  code: 422,
})

function answer(fields: Partial<FailedAnswer>): FailedAnswer {
  return { status: 500, retryAfter: undefined, body: '', jsonPatch: false, nowWallMs, ...fields }
}

describe('answerError', () => {
  const cases: { when: string; answer: Partial<FailedAnswer>; kind: KubernetesErrorKind; retryAfterMs?: number }[] = [
    { when: '401', answer: { status: 401 }, kind: 'denied' },
    { when: '403', answer: { status: 403 }, kind: 'denied' },
    { when: '404', answer: { status: 404 }, kind: 'not-found' },
    { when: '409', answer: { status: 409 }, kind: 'conflict' },
    { when: '410', answer: { status: 410 }, kind: 'gone' },
    { when: '400', answer: { status: 400 }, kind: 'invalid' },
    { when: '408', answer: { status: 408 }, kind: 'unavailable' },
    { when: '500', answer: { status: 500 }, kind: 'unavailable' },
    { when: 'a redirect', answer: { status: 302 }, kind: 'unavailable' },
    { when: "a JSON patch's test fails", answer: { status: 422, jsonPatch: true, body: failedTest }, kind: 'conflict' },
    {
      when: 'a policy denies a JSON patch',
      answer: { status: 422, jsonPatch: true, body: deniedByPolicy },
      kind: 'invalid',
    },
    { when: 'any other request gets 422', answer: { status: 422, body: failedTest }, kind: 'invalid' },
    { when: '429 says seconds', answer: { status: 429, retryAfter: '7' }, kind: 'throttled', retryAfterMs: 7_000 },
    {
      when: '503 says a date',
      answer: { status: 503, retryAfter: 'Thu, 01 Jan 2026 00:00:09 GMT' },
      kind: 'unavailable',
      retryAfterMs: 9_000,
    },
    {
      when: 'the time stands in the body only',
      answer: { status: 504, body: status({ details: { retryAfterSeconds: 2 } }) },
      kind: 'unavailable',
      retryAfterMs: 2_000,
    },
    { when: 'the header is nonsense', answer: { status: 429, retryAfter: 'soon' }, kind: 'throttled' },
  ]
  for (const { when, answer: fields, kind, retryAfterMs } of cases) {
    it(`is '${kind}' when ${when}`, () => {
      const error = answerError(answer(fields))

      expect(error).to.include({ kind, status: fields.status })
      expect(error.retryAfterMs).to.equal(retryAfterMs)
    })
  }

  it("says the server's message, or the beginning of what is no Status", () => {
    expect(answerError(answer({ status: 403, body: status({ message: 'pods is forbidden' }) })).message).to.equal(
      '403: pods is forbidden',
    )
    expect(answerError(answer({ status: 502, body: `<html>${'x'.repeat(9_999)}` })).message).to.have.length(505)
  })
})

describe('watchEventError', () => {
  const cases: { object: unknown; kind: KubernetesErrorKind }[] = [
    { object: { kind: 'Status', code: 410, reason: 'Expired' }, kind: 'gone' },
    { object: { kind: 'Status', reason: 'Gone' }, kind: 'gone' },
    { object: { kind: 'Status', code: 429, details: { retryAfterSeconds: 1 } }, kind: 'throttled' },
    { object: { kind: 'Status', code: 500 }, kind: 'unavailable' },
    { object: undefined, kind: 'unavailable' },
    { object: 'nonsense', kind: 'unavailable' },
  ]
  for (const { object, kind } of cases) {
    it(`is '${kind}' for ${JSON.stringify(object)}`, () => {
      expect(watchEventError(object).kind).to.equal(kind)
    })
  }
})

describe('connectionError', () => {
  it('is unavailable, with its cause, for whatever was thrown', () => {
    const cause = new Error('socket hang up')

    expect(connectionError(cause)).to.include({ kind: 'unavailable', cause })
    expect(connectionError('odd').kind).to.equal('unavailable')
  })

  it('leaves what is translated already', () => {
    const error = new KubernetesError('gone', 'x')

    expect(connectionError(error)).to.equal(error)
  })
})
