import { expect } from 'chai'
import fc from 'fast-check'
import { clusterReport, row } from '../../testing/rows.ts'
import { renderCsv } from './csv.ts'

const csv = (...claims: readonly ReturnType<typeof row>[]) => [...renderCsv([clusterReport({ claims })])].join('')

/** The cells of an RFC 4180 text. */
function parse(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '\r\n') rows.push([])
    if (end === '') break
  }
  return rows.slice(0, -1)
}

function valueOf(text: string): string | undefined {
  const [header = [], first = []] = parse(text)
  return first[header.indexOf('wanted')]
}

describe('CSV', () => {
  it('has a row for each claim and tag, and one for a claim without tags', () => {
    const tagged = row({
      tags: [
        { key: 'a', value: '1', state: 'add' },
        { key: 'b', present: '2', state: 'remove' },
      ],
    })
    const pending = row({ name: 'data-1', state: 'pending', reason: 'claim-unbound', tags: [] })

    const [header = [], ...rows] = parse(csv(tagged, pending))

    const column = (name: string) => rows.map((cells) => cells[header.indexOf(name)])
    expect(column('claim')).to.deep.equal(['data-0', 'data-0', 'data-1'])
    expect(column('tag')).to.deep.equal(['a', 'b', ''])
    expect(column('tag_state')).to.deep.equal(['add', 'remove', ''])
    expect(column('claim_reason')).to.deep.equal(['', '', 'claim-unbound'])
  })

  for (const value of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '  =1', '\r=1', '＝1', '\n=cmd']) {
    it(`disarms ${JSON.stringify(value)}, which a spreadsheet would run`, () => {
      expect(valueOf(csv(row({ tags: [{ key: 'k', value, state: 'add' }] })))).to.equal(`'${value}`)
    })
  }

  it('gives back any value but for the apostrophe, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const found = valueOf(csv(row({ tags: [{ key: 'k', value, state: 'add' }] })))

        expect(found === value || found === `'${value}`).to.equal(true)
        expect(/^\s*[=+\-@]/.test(found ?? '')).to.equal(false)
      }),
    )
  })
})
