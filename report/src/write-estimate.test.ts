import { expect } from 'chai'
import { estimateCalls } from './write-estimate.ts'

const change = (set: Readonly<Record<string, string>>, remove: Readonly<Record<string, string>> = {}) => ({
  set: new Map(Object.entries(set)),
  remove: new Map(Object.entries(remove).map(([key, value]) => [key, [value]])),
})

describe('estimateCalls', () => {
  const alike = new Map(Array.from({ length: 2500 }, (_, index) => [`vol-${index}`, change({ team: 'core' })]))

  it('lets disks with equal tags share a call on AWS, a thousand at most', () => {
    expect(estimateCalls('aws', alike)).to.equal(3)
  })

  it('counts a call for each disk elsewhere', () => {
    expect(estimateCalls('gcp', alike)).to.equal(2500)
    expect(estimateCalls('azure', alike)).to.equal(2500)
  })

  it('counts removals apart', () => {
    const both = new Map([
      ['vol-1', change({ team: 'core' }, { old: 'x' })],
      ['vol-2', change({ team: 'core' })],
    ])

    expect(estimateCalls('aws', both)).to.equal(2)
  })

  it('counts nothing where nothing is due', () => {
    expect(estimateCalls('aws', new Map())).to.equal(0)
  })
})
