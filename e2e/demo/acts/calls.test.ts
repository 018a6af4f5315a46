import { expect } from 'chai'
import { briefCalls, cloudCalls, describeCalls, writeCount } from './calls.ts'

const count = (calls: number, disks: number) => ({ calls, disks, throttled: 0, failed: 0 })
const cloud = {
  counts: () => ({ DescribeVolumes: count(3, 9), CreateTags: count(2, 41), GetCallerIdentity: count(1, 0) }),
}

describe('calls to the cloud', () => {
  it('come writes first, with kinds that were not called and kinds that nobody expected', () => {
    expect(briefCalls(cloudCalls(cloud))).to.equal('2 CreateTags, 0 DeleteTags, 3 DescribeVolumes, 1 GetCallerIdentity')
  })

  it('say how many disks they were about', () => {
    expect(describeCalls(cloudCalls(cloud).slice(0, 2))).to.equal('2 CreateTags (41 disks), 0 DeleteTags (0 disks)')
  })

  it('count as writes what changes tags', () => {
    expect(writeCount({ counts: () => ({ DescribeVolumes: count(3, 9), DeleteTags: count(1, 1) }) })).to.equal(1)
  })
})
