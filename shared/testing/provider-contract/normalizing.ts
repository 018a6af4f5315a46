import { expect } from 'chai'
import fc from 'fast-check'
import { sameTags, type TagSet } from '../../src/tags/tag-set.ts'
import { freeWish, labelWish } from '../label-arbitraries.ts'
import { apply, type CurrentSubject } from './subject.ts'

const wish = fc.oneof(labelWish, freeWish)

export function describeNormalizing(current: CurrentSubject): void {
  describe('normalize', () => {
    it('makes nothing out of nothing', () => {
      const { tags, problems } = current().provider.normalize(new Map())

      expect([tags.size, problems.length]).to.deep.equal([0, 0])
    })

    it('is idempotent', () => {
      const { provider } = current()
      check((desired) => {
        const once = provider.normalize(desired).tags
        const twice = provider.normalize(once)

        expect(sameTags(twice.tags, once)).to.equal(true)
        expect(twice.problems).to.deep.equal([])
      })
    })

    it('is pure, and the order of the wish means nothing', () => {
      const { provider } = current()
      check((desired) => {
        const copy = new Map(desired)
        const first = provider.normalize(desired)
        const second = provider.normalize(desired)
        const reversed = provider.normalize(new Map([...desired].toReversed()))

        expect([...desired]).to.deep.equal([...copy])
        expect(second).to.deep.equal(first)
        expect(sameTags(reversed.tags, first.tags)).to.equal(true)
      })
    })

    it('names every label that it drops or changes, and the tag that it became', () => {
      const { provider } = current()
      check((desired) => {
        const { tags, problems } = provider.normalize(desired)

        for (const [label, value] of desired) {
          const own = problems.filter((problem) => problem.label === label)
          if (tags.get(label) !== value) expect(own, label).not.to.deep.equal([])
          for (const { tag } of own) if (tag !== undefined) expect(tags.has(tag), label).to.equal(true)
        }
        for (const problem of problems) {
          expect(desired.has(problem.label), problem.label).to.equal(true)
          expect(problem.message).not.to.equal('')
        }
      })
    })

    it('makes no tag that nobody wished', () => {
      const { provider } = current()
      check((desired) => {
        const { tags, problems } = provider.normalize(desired)

        for (const [tag, value] of tags) {
          const sources = sourcesOf(tag, desired, problems)
          expect(sources, tag).not.to.deep.equal([])
          const same = sources.some((label) => desired.get(label) === value)
          const changed = problems.some(({ kind, label }) => kind === 'changed-value' && sources.includes(label))
          expect(same || changed, tag).to.equal(true)
        }
      })
    })

    it('never lets a protected key or too many tags through', () => {
      const { provider } = current()
      check((desired) => {
        const { tags } = provider.normalize(desired)

        expect([...tags.keys()].filter((key) => provider.isProtectedKey(key))).to.deep.equal([])
        expect(tags.size).to.be.at.most(provider.tagsPerDisk)
      })
    })

    it('makes only tags that the cloud takes and keeps as they are', async () => {
      const wishes = fc.array(wish, { minLength: 4, maxLength: 8 })
      await fc.assert(
        fc.asyncProperty(wishes, async (wishes) => {
          const subject = current()
          const written = wishes.map((desired) => ({
            disk: subject.addDisk(),
            set: subject.provider.normalize(desired).tags,
          }))

          await Promise.all(written.map(({ disk, set }) => apply(subject, disk, { set, remove: new Map() })))

          for (const { disk, set } of written) expect(subject.tagsOf(disk)).to.deep.equal(Object.fromEntries(set))
        }),
        { numRuns: 5 },
      )
    })
  })
}

function check(property: (desired: TagSet) => void): void {
  fc.assert(fc.property(wish, property), { numRuns: 200 })
}

function sourcesOf(
  tag: string,
  desired: TagSet,
  problems: readonly { readonly label: string; readonly tag: string | undefined }[],
): string[] {
  const renamed = problems.filter((problem) => problem.tag === tag).map(({ label }) => label)
  return desired.has(tag) ? [tag, ...renamed] : renamed
}
