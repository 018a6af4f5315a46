import { expect } from 'chai'
import { describeDifferences, tagDifferences, tagProblems } from './tag-differences.ts'

describe('differences of tags', () => {
  it('tells what was set, changed and removed', () => {
    const differences = tagDifferences({ keep: '1', change: 'old', go: 'x' }, { keep: '1', change: 'new', come: 'y' })

    expect(describeDifferences(differences)).to.equal('change=new, come=y; removed go')
  })

  it('says nothing about equal tags', () => {
    expect(describeDifferences(tagDifferences({ a: '1' }, { a: '1' }))).to.equal('')
  })

  it('finds a missing, a wrong and a superfluous tag, each in a sentence', () => {
    const problems = tagProblems('vol-1', { team: 'core', tier: '2' }, { tier: '1', owner: 'me' })

    expect(problems).to.deep.equal([
      'vol-1: tag team is missing, expected "core"',
      'vol-1: tag tier is "1", expected "2"',
      'vol-1: tag owner="me" should not be there',
    ])
  })
})
