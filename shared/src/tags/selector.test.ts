import { expect } from 'chai'
import { parseSelector } from './selector.ts'

const labels = { tier: 'gold', 'example.com/team': 'core', empty: '' }

describe('label selectors', () => {
  for (const [text, selects] of [
    ['', true],
    ['  ', true],
    ['tier', true],
    ['!tier', false],
    ['missing', false],
    ['!missing', true],
    ['tier=gold', true],
    ['tier == gold', true],
    ['tier=silver', false],
    ['tier!=silver', true],
    ['missing!=x', true],
    ['tier in (gold, silver)', true],
    ['tier in (silver)', false],
    ['tier notin (silver)', true],
    ['missing notin (a,b)', true],
    ['example.com/team=core', true],
    ['empty=', true],
    ['tier in (gold, silver), !missing, example.com/team', true],
    ['tier in (gold, silver),missing', false],
  ] as const) {
    it(`${JSON.stringify(text)} ${selects ? 'takes' : 'leaves out'} the labels`, () => {
      const parsed = parseSelector(text)

      expect(parsed.ok && parsed.selects(labels)).to.equal(selects)
    })
  }

  for (const text of [
    'tier in gold',
    'tier in (gold',
    '=gold',
    'tier=>gold',
    'a b',
    ',',
    'tier,',
    '-bad',
    'tier in ()x',
  ]) {
    it(`says what is wrong with ${JSON.stringify(text)}`, () => {
      const parsed = parseSelector(text)

      expect(parsed.ok ? undefined : parsed.problem).to.include('key in (a, b)')
    })
  }

  it('do not take what every object has for a label', () => {
    const parsed = parseSelector('constructor')

    expect(parsed.ok && parsed.selects({})).to.equal(false)
  })
})
