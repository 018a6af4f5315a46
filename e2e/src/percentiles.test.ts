import { expect } from 'chai'
import { describeMs, distribution, percentile } from './percentiles.ts'

describe('percentiles', () => {
  it('are values that were measured', () => {
    const samples = Array.from({ length: 200 }, (_, index) => 200 - index)

    expect(distribution(samples)).to.deep.equal({
      count: 200,
      min: 1,
      p50: 100,
      p90: 180,
      p99: 198,
      max: 200,
      mean: 100.5,
    })
  })

  it('of one sample are that sample', () => {
    expect(percentile([7], 99)).to.equal(7)
    expect(describeMs([7])).to.equal('p50 7.0 ms, p90 7.0 ms, p99 7.0 ms, max 7.0 ms (n = 1)')
  })

  it('of nothing are an error, not zero', () => {
    expect(() => distribution([])).to.throw('No sample')
  })
})
