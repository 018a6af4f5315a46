import { expect } from 'chai'
import fc from 'fast-check'
import { readOwnTags } from './own-tags.ts'

const tagsOf = (text: string) => {
  const read = readOwnTags(text)
  return read.ok ? Object.fromEntries(read.tags) : read.problem
}

describe("a claim's own tags", () => {
  for (const [text, tags] of [
    ['{"team":"core","cost":"4711"}', { team: 'core', cost: '4711' }],
    ['{"n":7,"yes":true}', { n: '7', yes: 'true' }],
    ['team=core,cost=4711', { team: 'core', cost: '4711' }],
    ['team=core, url=https://x/?a=b', { team: 'core', url: 'https://x/?a=b' }],
    ['empty=', { empty: '' }],
    ['team=core,', { team: 'core' }],
    ['{}', {}],
    ['', {}],
    ['  ', {}],
  ] as const) {
    it(`are read from ${JSON.stringify(text)}`, () => {
      expect(tagsOf(text)).to.deep.equal(tags)
    })
  }

  for (const [text, problem] of [
    ['{"team":"core"', 'it is no valid JSON'],
    ['{team: core}', 'it is no valid JSON'],
    ['["team"]', 'it is neither a JSON map nor key=value,key=value'],
    ['team', 'it is neither a JSON map nor key=value,key=value'],
    ['=core', 'it is neither a JSON map nor key=value,key=value'],
  ] as const) {
    it(`cannot be read from ${JSON.stringify(text)}, which is said`, () => {
      expect(tagsOf(text)).to.equal(problem)
    })
  }

  it('lose only the value that is no text', () => {
    const read = readOwnTags('{"team":"core","list":["a"],"nothing":null,"map":{}}')

    expect(read).to.deep.equal({ ok: true, tags: new Map([['team', 'core']]), refused: ['list', 'nothing', 'map'] })
  })

  it('can be called __proto__', () => {
    const read = readOwnTags('{"__proto__":"x"}')

    expect(read.ok && [...read.tags]).to.deep.equal([['__proto__', 'x']])
  })

  it('never make a text throw', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readOwnTags(text)))
  })
})
