import { expect } from 'chai'
import * as fc from 'fast-check'
import { firstBytes, firstCodePoints, firstUnits } from './cuts.ts'

describe('the beginning of a text', () => {
  for (const [text, count, codePoints, units, bytes] of [
    ['abc', 3, 'abc', 'abc', 'abc'],
    ['abc', 2, 'ab', 'ab', 'ab'],
    ['äbc', 2, 'äb', 'äb', 'ä'],
    ['äbc', 1, 'ä', 'ä', undefined],
    ['🦁bc', 1, '🦁', '', undefined],
    ['🦁bc', 4, '🦁bc', '🦁bc', '🦁'],
    ['a🦁', 3, 'a🦁', 'a🦁', undefined],
    ['', 0, '', '', ''],
  ] as const) {
    it(`is cut by what each counts: ${count} of ${JSON.stringify(text)}`, () => {
      expect([firstCodePoints(text, count), firstUnits(text, count), firstBytes(text, count)]).to.deep.equal([
        codePoints,
        units,
        bytes,
      ])
    })
  }

  it('is as long as it may be, and a beginning', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 })
    fc.assert(
      fc.property(text, fc.nat(40), (text, count) => {
        const bytes = firstBytes(text, count)
        const expected = Buffer.from(text).subarray(0, count)

        expect(Array.from(firstCodePoints(text, count))).to.deep.equal(Array.from(text).slice(0, count))
        expect(text.startsWith(firstUnits(text, count))).to.equal(true)
        expect(firstUnits(text, count).length).to.be.within(Math.min(text.length, count) - 1, count)
        // Where the cut goes through a character, decoding gives another text.
        const isWhole = Buffer.from(expected.toString()).equals(expected)
        expect(bytes).to.equal(isWhole ? expected.toString() : undefined)
      }),
    )
  })
})
