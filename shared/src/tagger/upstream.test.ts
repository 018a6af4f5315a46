import { expect } from 'chai'
import type { Lane } from '../providers/provider.ts'
import { Upstream } from './upstream.ts'

function start(unstarted: Readonly<Record<Lane, number>> = { fresh: 0, bulk: 0 }) {
  let arrivals = 0
  const upstream = new Upstream({ unstarted: (lane) => unstarted[lane], onArrival: () => arrivals++ })
  const toCome = (lane: Lane) => [upstream.readsToCome(lane), upstream.writesToCome(lane)]
  return { upstream, toCome, arrivals: () => arrivals }
}

describe('Upstream', () => {
  it('expects both calls of a job that has begun, and of those that have not', () => {
    const { upstream, toCome } = start({ fresh: 2, bulk: 5 })

    upstream.start('fresh')

    expect(toCome('fresh')).to.deep.equal([3, 3])
    expect(toCome('bulk')).to.deep.equal([5, 5])
  })

  it('expects only the write of a job that reads', () => {
    const { upstream, toCome, arrivals } = start()
    const job = upstream.start('fresh')

    job.reachedRead()

    expect(toCome('fresh')).to.deep.equal([0, 1])
    expect(arrivals()).to.equal(1)
  })

  it('expects nothing of a job that writes without a read', () => {
    const { upstream, toCome } = start()

    upstream.start('bulk').reachedWrite()

    expect(toCome('bulk')).to.deep.equal([0, 0])
  })

  it('counts each step once, however often it is told', () => {
    const { upstream, toCome, arrivals } = start()
    const job = upstream.start('fresh')
    upstream.start('fresh')

    for (let i = 0; i < 3; i++) {
      job.reachedRead()
      job.reachedWrite()
      job.ended()
    }

    expect(toCome('fresh')).to.deep.equal([1, 1])
    expect(arrivals()).to.equal(2)
  })

  it('expects nothing of a job that ended on its way', () => {
    const { upstream, toCome } = start()

    upstream.start('fresh').ended()

    expect(toCome('fresh')).to.deep.equal([0, 0])
  })
})
