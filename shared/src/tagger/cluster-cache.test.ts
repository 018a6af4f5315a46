import { expect } from 'chai'
import { claim, volume } from '../../testing/builders.ts'
import { ClusterInHand } from '../../testing/cluster-in-hand.ts'
import { CachedRecordWriter, claimKeyOf, ClusterCache } from './cluster-cache.ts'

const options = { signal: new AbortController().signal, priority: 'bulk' } as const

describe('ClusterCache', () => {
  it('answers with what was seen last, and with nothing for what was never seen', async () => {
    const cache = new ClusterCache('aws')
    cache.putClaim(claim())
    cache.putClaim(claim({ labels: { team: 'core' } }))

    expect((await cache.claim(claim().key))?.labels).to.deep.equal({ team: 'core' })
    expect(await cache.volume('pv-1')).to.equal(undefined)
    expect(cache.claimCount).to.equal(1)
  })

  it('does not let an older event of the watch overwrite the answer to a patch', () => {
    const cache = new ClusterCache('aws')
    cache.putVolume(volume({ resourceVersion: '99' }))
    expect(cache.putVolume(volume({ resourceVersion: '101', applied: 'ours' }))).to.equal(true)

    expect(cache.putVolume(volume({ resourceVersion: '100' }))).to.equal(false)
    expect(cache.putVolume(volume({ resourceVersion: '101' }))).to.equal(false)

    expect(cache.volumeNow('pv-1')?.applied).to.equal('ours')
  })

  it('takes a volume that was made again under its name, whatever its version', () => {
    const cache = new ClusterCache('aws')
    cache.putVolume(volume({ resourceVersion: '101' }))

    expect(cache.putVolume(volume({ uid: 'volume-uid-2', resourceVersion: '7' }))).to.equal(true)

    expect(cache.volumeNow('pv-1')?.uid).to.equal('volume-uid-2')
  })

  it('does not take the end of an older object for that of its successor', () => {
    const cache = new ClusterCache('aws')
    cache.putClaim(claim({ uid: 'claim-uid-2' }))
    cache.putVolume(volume({ uid: 'volume-uid-2' }))

    cache.dropClaim(claim())
    cache.dropVolume(volume())
    expect([cache.claimCount, cache.volumeNow('pv-1')?.uid]).to.deep.equal([1, 'volume-uid-2'])

    cache.dropClaim(claim({ uid: 'claim-uid-2' }))
    cache.dropVolume(volume({ uid: 'volume-uid-2' }))
    expect([cache.claimCount, cache.volumeNow('pv-1')]).to.deep.equal([0, undefined])
  })

  it('shows a record as soon as it was written, before the watch does', async () => {
    const cache = new ClusterCache('aws')
    const cluster = new ClusterInHand()
    const stored = cluster.putVolume()
    cache.putVolume(stored)
    const records = new CachedRecordWriter(cluster, cache)

    await records.writeRecord(stored, 'ours', options)

    expect((await cache.volume('pv-1'))?.applied).to.equal('ours')
    expect(cache.putVolume(stored)).to.equal(false)
  })

  describe('of volumes that name one disk', () => {
    const second = { name: 'pv-2', uid: 'v2', claimRef: { namespace: 'db', name: 'data-1', uid: 'c2' } }
    const disk = { id: 'vol-0123456789abcdef0' }
    const namesOf = (cache: ClusterCache) => cache.volumesOf(disk).map(({ name }) => name)

    function start(): ClusterCache {
      const cache = new ClusterCache('aws')
      cache.putClaim(claim())
      cache.putClaim(claim({ name: 'data-1', uid: 'c2', volumeName: 'pv-2' }))
      cache.putVolume(volume({ ...second, createdAtMs: volume().createdAtMs - 1 }))
      cache.putVolume(volume())
      return cache
    }

    it('knows the oldest first, then by name', () => {
      const cache = start()
      expect(namesOf(cache)).to.deep.equal(['pv-2', 'pv-1'])

      cache.putVolume(volume({ ...second, resourceVersion: '200' }))
      expect(namesOf(cache)).to.deep.equal(['pv-1', 'pv-2'])
    })

    it('leaves out one whose claim is gone, however old it is', () => {
      const cache = start()

      cache.dropClaim(claim({ name: 'data-1', uid: 'c2', volumeName: 'pv-2' }))

      expect(namesOf(cache)).to.deep.equal(['pv-1'])
    })

    it('says nothing where there is only one, and forgets one that went', () => {
      const cache = start()
      expect(cache.sharersOf(volume()).map(({ name }) => name)).to.deep.equal(['pv-2'])

      cache.dropVolume(volume(second))

      expect(namesOf(cache)).to.deep.equal([])
      expect(cache.sharersOf(volume())).to.deep.equal([])
    })
  })

  it('knows which claim a volume says it belongs to', () => {
    expect(claimKeyOf(volume())).to.equal('db/data-0')
    expect(claimKeyOf(volume({ claimRef: undefined }))).to.equal(undefined)
  })
})
