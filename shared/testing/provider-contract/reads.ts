import { expect } from 'chai'
import { callOptions, failureOf, listed, type CurrentSubject } from './subject.ts'

// Above one page and one call of every cloud, so that paging and splitting take part.
const manyDisks = 1_100

export function describeReads(current: CurrentSubject): void {
  describe('getTags', () => {
    it('reads every tag, foreign ones included', async () => {
      const { provider, addDisk } = current()
      const tags = { team: 'core', CSIVolumeName: 'pvc-1', empty: '' }
      const disk = addDisk(tags)
      addDisk({ other: 'disk' })

      const observed = await provider.getTags(disk, callOptions())

      expect(Object.fromEntries(observed.tags)).to.deep.equal(tags)
    })

    it('reads no tags from a disk that has none', async () => {
      const { provider, addDisk } = current()

      const observed = await provider.getTags(addDisk(), callOptions())

      expect(observed.tags.size).to.equal(0)
    })

    it('reads text as it is, whatever the characters', async () => {
      const { provider, addDisk } = current()
      const tags = { odd: '<a href="x">&amp;\'ö 😀</a>', padded: ' spaced  out ' }
      const disk = addDisk(tags)

      const observed = await provider.getTags(disk, callOptions())

      expect(Object.fromEntries(observed.tags)).to.deep.equal(tags)
    })

    it('says not-found for a disk that is not there', async () => {
      const { provider, missingDisk } = current()

      await failureOf(provider.getTags(missingDisk(), callOptions()), 'not-found')
    })

    it('answers each of many at once with its own, and one that is missing fails alone', async () => {
      const { provider, addDisk, missingDisk } = current()
      const disks = Array.from({ length: 20 }, (_, i) => addDisk({ index: String(i) }))
      const missing = failureOf(provider.getTags(missingDisk(), callOptions()), 'not-found')

      const observed = await Promise.all(disks.map((disk) => provider.getTags(disk, callOptions())))

      expect(observed.map(({ tags }) => tags.get('index'))).to.deep.equal(disks.map((_, i) => String(i)))
      await missing
    })

    for (const lane of ['fresh', 'bulk'] as const) {
      it(`reads in the ${lane} lane`, async () => {
        const { provider, addDisk } = current()

        const { tags } = await provider.getTags(addDisk({ team: 'core' }), callOptions({ lane }))

        expect(tags.get('team')).to.equal('core')
      })
    }

    it('is given up without a call when aborted before', async () => {
      const { provider, addDisk, calls } = current()

      const failure = await failureOf(
        provider.getTags(addDisk(), callOptions({ signal: AbortSignal.abort() })),
        'unavailable',
      )

      expect(failure.outcomeUnknown).to.equal(false)
      expect(calls()).to.equal(0)
    })
  })

  describe('listTags', () => {
    it('yields exactly those asked disks that exist, each once, with all their tags', async () => {
      const { addDisk, missingDisk } = current()
      const first = addDisk({ team: 'core', foreign: 'x' })
      const second = addDisk()
      addDisk({ not: 'asked for' })

      const found = await listed(current(), [second, missingDisk(), first])

      expect(Object.fromEntries(found)).to.deep.equal({ [first.id]: { team: 'core', foreign: 'x' }, [second.id]: {} })
    })

    it('reads more disks than one call can, among them missing ones', async () => {
      const { addDisk, missingDisk, calls } = current()
      const disks = Array.from({ length: manyDisks }, (_, i) => addDisk({ index: String(i) }))

      const found = await listed(current(), [...disks, missingDisk()], { lane: 'bulk' })

      expect(found.size).to.equal(manyDisks)
      expect(disks.every((disk, i) => found.get(disk.id)?.['index'] === String(i))).to.equal(true)
      expect(calls()).to.be.lessThan(manyDisks / 10)
    })

    it('asks the cloud nothing about no disks', async () => {
      const { addDisk, calls } = current()
      addDisk()

      const found = await listed(current(), [])

      expect(found.size).to.equal(0)
      expect(calls()).to.equal(0)
    })

    it('rejects when a page cannot be read', async () => {
      const { addDisk, failNext } = current()
      const disks = [addDisk(), addDisk()]
      failNext('unavailable', 'read')

      await failureOf(listed(current(), disks), 'unavailable')
    })

    it('is given up without a call when aborted before', async () => {
      const { addDisk, calls } = current()
      const disks = [addDisk()]

      const failure = await failureOf(listed(current(), disks, { signal: AbortSignal.abort() }), 'unavailable')

      expect(failure.outcomeUnknown).to.equal(false)
      expect(calls()).to.equal(0)
    })
  })
}
