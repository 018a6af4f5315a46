import { expect } from 'chai'
import { retryAfterMs } from './retry-after.ts'

const nowMs = Date.UTC(2026, 10, 30, 12, 0, 0)

const cases: readonly { readonly header: string | undefined; readonly expected: number | undefined }[] = [
  { header: '7', expected: 7000 },
  { header: '0', expected: 0 },
  { header: '1.5', expected: 1500 },
  { header: 'Mon, 30 Nov 2026 12:00:05 GMT', expected: 5000 },
  { header: 'Mon, 30 Nov 2026 11:00:00 GMT', expected: 0 },
  { header: '-3', expected: undefined },
  { header: 'soon', expected: undefined },
  { header: '', expected: undefined },
  { header: undefined, expected: undefined },
]

describe('retryAfterMs', () => {
  for (const { expected, header } of cases) {
    it(`reads ${JSON.stringify(header)} as ${expected}`, () => {
      expect(retryAfterMs(header, nowMs)).to.equal(expected)
    })
  }
})
