import { expect } from 'chai'
import type { ClaimRow, ClusterReport } from '../src/cluster-report.ts'
import { encodePageData } from '../src/html/encode-page-data.ts'
import { clusterReport, row } from '../testing/rows.ts'
import { decodeRow } from './decode-rows.ts'
import { ListModel } from './list-model.ts'
import type { Query } from './list-model.ts'

const byName = { column: 'claim', descending: false } as const

function selected(clusters: readonly ClusterReport[], query: Partial<Query> = {}): readonly string[] {
  const model = new ListModel(encodePageData(clusters))
  return model
    .select({ search: '', filters: {}, sort: byName, ...query })
    .map((index) => model.claims[index]?.name ?? 'nothing')
}

function of(...claims: readonly Partial<ClaimRow>[]): readonly ClusterReport[] {
  return [clusterReport({ claims: claims.map((claim) => row(claim)) })]
}

describe("the page's list", () => {
  it('is given everything that the report says of a claim', () => {
    const claim = row({
      state: 'partial',
      reason: 'odd',
      detail: 'more',
      otherTags: 3,
      tags: [
        { key: '', value: '', present: '', state: 'in-place' },
        { key: 'a', value: 'b', state: 'blocked', reason: 'disk-full' },
      ],
      problems: [{ kind: 'k', message: '' }],
      missingLabels: ['team'],
    })
    const data = encodePageData([clusterReport({ claims: [claim] })])

    const { record: _, ...expected } = claim
    expect(decodeRow(data, data.rows[0]!)).to.deep.equal({ cluster: 'prod', ...expected })
  })

  it('finds claims by all words of a search, in any case and in any field', () => {
    const clusters = of({ name: 'one', namespace: 'shop' }, { name: 'two', disk: 'vol-ABC' }, { name: 'three' })

    expect(selected(clusters, { search: 'SHOP/one' })).to.deep.equal(['one'])
    expect(selected(clusters, { search: 'vol-abc  team=core' })).to.deep.equal(['two'])
    expect(selected(clusters, { search: 'shop vol-abc' })).to.deep.equal([])
    expect(selected(clusters, { search: '   ' })).to.have.length(3)
  })

  it('finds the value that is there as well as the one that is wished', () => {
    const tags = [{ key: 'team', value: 'core', present: 'nobody', state: 'change' }] as const
    const clusters = of({ name: 'one', tags }, { name: 'two' })

    expect(selected(clusters, { search: 'nobody' })).to.deep.equal(['one'])
    expect(selected(clusters, { search: 'team=core' })).to.deep.equal(['two', 'one'].toSorted())
  })

  it('filters by state, namespace, label, problem, and by a tag that is not in place', () => {
    const clusters = of(
      { name: 'fine' },
      { name: 'due', state: 'differs', tags: [{ key: 'team', value: 'x', state: 'add' }] },
      { name: 'gone', state: 'missing', reason: 'disk-not-found', namespace: 'other' },
      { name: 'lacking', missingLabels: ['team'] },
    )

    expect(selected(clusters, { filters: { state: 'differs' } })).to.deep.equal(['due'])
    expect(selected(clusters, { filters: { namespace: 'other' } })).to.deep.equal(['gone'])
    expect(selected(clusters, { filters: { key: 'team' } })).to.deep.equal(['due'])
    expect(selected(clusters, { filters: { problem: 'disk-not-found' } })).to.deep.equal(['gone'])
    expect(selected(clusters, { filters: { label: 'team' } })).to.deep.equal(['lacking'])
    expect(selected(clusters, { filters: { state: 'differs', namespace: 'other' } })).to.deep.equal([])
  })

  it('searches over clusters, and filters by one', () => {
    const dev = clusterReport({ cluster: 'dev', claims: [row({ name: 'in-dev' })] })
    const clusters = [...of({ name: 'in-prod' }), dev]

    expect(selected(clusters, { search: 'in-' })).to.have.length(2)
    expect(selected(clusters, { search: 'in- dev' })).to.deep.equal(['in-dev'])
    expect(selected(clusters, { filters: { cluster: 'prod' } })).to.deep.equal(['in-prod'])
  })

  it('sorts what needs somebody first by state, and turns every order round', () => {
    const clusters = of({ name: 'a' }, { name: 'b', state: 'skipped' }, { name: 'c', state: 'differs' })

    expect(selected(clusters, { sort: { column: 'state', descending: false } })).to.deep.equal(['c', 'a', 'b'])
    expect(selected(clusters, { sort: { column: 'claim', descending: true } })).to.deep.equal(['c', 'b', 'a'])
  })
})
