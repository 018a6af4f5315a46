import { expect } from 'chai'
import { clusterReport, row } from '../testing/rows.ts'
import { mergeReports } from './merge-reports.ts'
import { UsageError } from './usage-error.ts'

const file = (path: string, content: unknown) => ({
  path,
  text: typeof content === 'string' ? content : JSON.stringify(content),
})

describe('mergeReports', () => {
  it('gives the clusters in order of their names, whatever the order of files', () => {
    const b = file('b.json', clusterReport({ cluster: 'b' }))
    const a = file('a.json', clusterReport({ cluster: 'a' }))

    const { clusters } = mergeReports([b, a])

    expect(clusters.map(({ cluster }) => cluster)).to.deep.equal(['a', 'b'])
  })

  it('merges what was merged before', () => {
    const merged = mergeReports([file('a.json', clusterReport({ cluster: 'a' }))])
    const more = mergeReports([file('fleet.json', merged), file('b.json', clusterReport({ cluster: 'b' }))])

    expect(more.clusters.map(({ cluster }) => cluster)).to.deep.equal(['a', 'b'])
  })

  it('takes fields that a later program of the same version added', () => {
    const later = { ...clusterReport(), added: true, claims: [{ ...row(), added: 1 }] }

    expect(mergeReports([file('a.json', later)]).clusters).to.have.length(1)
  })

  const refusals: readonly (readonly [when: string, content: unknown, says: string])[] = [
    ['it is no JSON', '{"schema":', 'x.json: is no JSON'],
    ['it is something else', { items: [] }, 'x.json: is no report'],
    ['it is a list', [], 'x.json: is no report'],
    ['its schema is of another version', { ...clusterReport(), version: 2 }, 'has version 2 of the schema'],
    ['it names no cluster', clusterReport({ cluster: '' }), 'names no cluster'],
    ['a field is missing', { ...clusterReport(), calls: undefined }, 'calls is missing'],
    ['a claim is cut', { ...clusterReport(), claims: [row(), { name: 'x' }] }, 'claims[1] is missing'],
    ['there are no claims', { ...clusterReport(), claims: undefined }, 'claims[0] is missing'],
    ['a state is unknown', { ...clusterReport(), claims: [{ ...row(), state: 'odd' }] }, 'claims[0] is missing'],
  ]
  for (const [when, content, says] of refusals) {
    it(`refuses a file when ${when}`, () => {
      expect(() => mergeReports([file('x.json', content)])).to.throw(UsageError, says)
    })
  }

  it('refuses a cluster that is there twice, and names both files', () => {
    const twice = [file('a.json', clusterReport()), file('b.json', clusterReport())]

    expect(() => mergeReports(twice)).to.throw(UsageError, 'b.json: cluster "prod" is in a.json already')
  })
})
