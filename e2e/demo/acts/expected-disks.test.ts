import { expect } from 'chai'
import { ExpectedDisks } from './expected-disks.ts'

function startWith(disks: Record<string, Record<string, string>>): ExpectedDisks {
  return new ExpectedDisks({ hasVolume: (id) => id in disks, tagsOf: (id) => disks[id] ?? {} })
}

describe('expected disks', () => {
  it('has no problem with disks that are as expected', () => {
    const expected = startWith({ 'vol-1': { team: 'core', backup: 'daily' } })

    expected.expect('vol-1', 'shop/orders', { team: 'core', backup: 'daily' })

    expect(expected.problems()).to.deep.equal([])
    expect(expected.wrongCount()).to.equal(0)
  })

  it('sees a foreign tag that is gone', () => {
    const expected = startWith({ 'vol-1': { team: 'core' } })

    expected.expect('vol-1', 'shop/orders', { team: 'core', backup: 'daily' })

    expect(expected.problems()).to.deep.equal(['vol-1 of shop/orders: tag backup is missing, expected "daily"'])
  })

  it('changes what is expected of single keys', () => {
    const expected = startWith({ 'vol-1': { team: 'data' } })
    expected.expect('vol-1', 'shop/orders', { team: 'core', tier: '2' })

    expected.change('vol-1', { team: 'data', tier: undefined })

    expect(expected.wrongCount()).to.equal(0)
  })

  it('misses a disk that is not there', () => {
    const expected = startWith({})

    expected.expect('vol-1', 'shop/orders', {})

    expect(expected.problems()).to.deep.equal(['vol-1 of shop/orders is not there'])
  })
})
