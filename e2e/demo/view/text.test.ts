import { expect } from 'chai'
import { counted, cut, cutMiddle, fit, listWithin, shownMs, wrap } from './text.ts'

describe('text for a screen', () => {
  it('is cut with a mark and never wider than asked', () => {
    expect(cut('shop/orders', 7)).to.equal('shop/o…')
    expect(cut('shop', 7)).to.equal('shop')
    expect(fit('shop', 6)).to.equal('shop  ')
  })

  it('keeps both ends of a name that is cut in the middle', () => {
    const name = cutMiddle('shop/data-postgresql-17', 12)

    expect(name).to.equal('shop/d…ql-17')
    expect(name).to.have.length(12)
  })

  it('breaks at spaces and cuts a word that fits no line', () => {
    expect(wrap('one two three', 7)).to.deep.equal(['one two', 'three'])
    expect(wrap('abcdefghij', 5)).to.deep.equal(['abcd…'])
    expect(wrap('', 5)).to.deep.equal([''])
  })

  it('lists as many items as fit and counts the others', () => {
    const tags = ['app=db', 'team=core', 'tier=2']

    expect(listWithin(tags, 40)).to.equal('app=db team=core tier=2')
    expect(listWithin(tags, 20)).to.equal('app=db team=core +1')
    expect(listWithin(tags, 10)).to.equal('app=db +2')
    expect(listWithin(['example.com/stage=prod'], 10)).to.equal('example.c…')
  })

  it('shows times in the unit that people would use', () => {
    expect([118.4, 7412, 65_200].map(shownMs)).to.deep.equal(['118 ms', '7.4 s', '1 m 05 s'])
  })

  it('counts in the singular and the plural', () => {
    expect([counted(1, 'disk'), counted(2, 'disk')]).to.deep.equal(['1 disk', '2 disks'])
  })
})
