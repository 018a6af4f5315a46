import { expect } from 'chai'
import * as fc from 'fast-check'
import { TagsByName, foldedName } from './tag-names.ts'

describe('tags by name', () => {
  it('are found in any case, and stand in the case of the first', () => {
    const tags = new TagsByName([
      ['CostCenter', '1'],
      ['team', 'core'],
    ])

    expect([tags.get('costcenter'), tags.has('COSTCENTER'), tags.size]).to.deep.equal(['1', true, 2])
    expect(Object.fromEntries(tags.set('costCenter', '2'))).to.deep.equal({ CostCenter: '2', team: 'core' })
  })

  it('can be taken away in any case and come back in another', () => {
    const tags = new TagsByName([['App', '1']])

    expect([tags.delete('APP'), tags.delete('app'), tags.has('App')]).to.deep.equal([true, false, false])
    expect([...tags.set('aPP', '2').keys()]).to.deep.equal(['aPP'])
    tags.clear()
    expect([tags.size, tags.has('app')]).to.deep.equal([0, false])
  })

  it('keep apart letters that only look like one in another case', () => {
    expect(foldedName('straße')).not.to.equal(foldedName('STRASSE'))
    expect(foldedName('größe')).to.equal(foldedName('GRÖßE'))
    expect(foldedName('__proto__')).to.equal(foldedName('__PROTO__'))
  })

  it('are those of a Map by folded names', () => {
    const name = fc.oneof(fc.stringMatching(/^[aAbB:.]{1,2}$/), fc.string({ unit: 'binary', maxLength: 3 }))
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string({ maxLength: 2 }))), (entries) => {
        const tags = new TagsByName(entries)
        const folded = new Map(entries.map(([name, value]) => [foldedName(name), value]))

        expect(tags.size).to.equal(folded.size)
        for (const [name] of entries) expect(tags.get(name)).to.equal(folded.get(foldedName(name)))
        expect(new Set(Array.from(tags.keys(), foldedName)).size).to.equal(tags.size)
      }),
    )
  })
})
