import { expect } from 'chai'
import { base32Head } from './base32.ts'

describe('base32', () => {
  // As in RFC 4648, in lower case, without padding, and without a last character that is not full.
  for (const [text, encoded] of [
    ['', ''],
    ['foo', 'mzxw'],
    ['fooba', 'mzxw6ytb'],
    ['foobarfoob', 'mzxw6ytbojtg633c'],
  ] as const) {
    it(`of ${JSON.stringify(text)} is ${JSON.stringify(encoded)}, from any length on`, () => {
      for (let length = 0; length <= encoded.length; length++)
        expect(base32Head(Buffer.from(text), length)).to.equal(encoded.slice(0, length))
    })
  }

  it('has no more characters than the bytes have bits for', () => {
    expect(base32Head(Buffer.from('foo'), 100)).to.have.length(4)
  })
})
