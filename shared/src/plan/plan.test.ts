import { expect } from 'chai'
import fc from 'fast-check'
import type { TouchedTag } from './applied-record.ts'
import { planChanges } from './plan.ts'
import type { Plan, PlanInput } from './plan.ts'

const map = <V>(object: Record<string, V>): Map<string, V> => new Map(Object.entries(object))
const ours = (value: string): TouchedTag => ({ values: [value], before: false })
const before = (value: string): TouchedTag => ({ values: [value], before: true })

function plan(overrides: Partial<PlanInput>): Plan {
  return planChanges({
    wish: map({}),
    owned: map({}),
    observed: undefined,
    policy: 'overwrite',
    mayRemove: () => true,
    adopt: false,
    limit: 50,
    ...overrides,
  })
}

/** What a faithful cloud makes of the changes. */
function applied(disk: ReadonlyMap<string, string>, { changes }: Plan): Map<string, string> {
  const result = new Map(disk)
  for (const [key, value] of changes.set) result.set(key, value)
  for (const [key, values] of changes.remove) {
    const present = result.get(key)
    if (present !== undefined && values.includes(present)) result.delete(key)
  }
  return result
}

function ownedAfter({ settled }: Plan): Map<string, TouchedTag> {
  return new Map([...settled].map(([key, tag]) => [key, { values: [tag.value], before: tag.before }]))
}

describe('planChanges', () => {
  describe('with the disk observed', () => {
    it('sets what is missing and what differs, and nothing that is right', () => {
      const { changes } = plan({ wish: map({ a: '1', b: '2', c: '3' }), observed: map({ a: '1', b: 'x' }) })

      expect([...changes.set]).to.deep.equal([
        ['b', '2'],
        ['c', '3'],
      ])
    })

    it('marks a key that was there before us, equal or not, and never removes it later', () => {
      const first = plan({ wish: map({ a: '1', b: '2' }), observed: map({ a: '1', b: 'x' }) })
      const later = plan({ owned: ownedAfter(first), observed: map({ a: '1', b: '2' }) })

      expect(first.settled.get('a')).to.deep.equal({ value: '1', before: true })
      expect(first.settled.get('b')).to.deep.equal({ value: '2', before: true })
      expect(later.changes.remove.size).to.equal(0)
      expect(later.settled.size).to.equal(0)
    })

    it('removes an own tag whose label is gone', () => {
      const { changes } = plan({ owned: map({ a: ours('1') }), observed: map({ a: '1', foreign: 'x' }) })

      expect([...changes.remove]).to.deep.equal([['a', ['1']]])
    })

    it('leaves a tag whose value somebody changed since, and gives it up', () => {
      const { changes, settled } = plan({ owned: map({ a: ours('1') }), observed: map({ a: 'by hand' }) })

      expect(changes.remove.size).to.equal(0)
      expect(settled.size).to.equal(0)
    })

    it('repairs a wished tag that somebody changed', () => {
      const { changes } = plan({ wish: map({ a: '1' }), owned: map({ a: ours('1') }), observed: map({ a: 'by hand' }) })

      expect([...changes.set]).to.deep.equal([['a', '1']])
    })

    it('takes any value of an open intent as possibly its own', () => {
      const { changes } = plan({ owned: map({ a: { values: ['1', '2'], before: false } }), observed: map({ a: '2' }) })

      expect([...changes.remove]).to.deep.equal([['a', ['2']]])
    })

    it('E5: leaves a value of somebody else under preserve, and says so', () => {
      const { changes, left, settled } = plan({
        wish: map({ a: '1' }),
        observed: map({ a: 'human' }),
        policy: 'preserve',
      })

      expect(changes.set.size).to.equal(0)
      expect(left.get('a')).to.deep.equal({ value: '1', reason: 'kept' })
      expect(settled.size).to.equal(0)
    })

    it('changes its own earlier value under preserve', () => {
      const input = { wish: map({ a: '2' }), owned: map({ a: ours('1') }), observed: map({ a: '1' }) }

      expect([...plan({ ...input, policy: 'preserve' }).changes.set]).to.deep.equal([['a', '2']])
    })

    it('counts foreign tags towards the limit and drops the last of the wish', () => {
      const { changes, left } = plan({
        wish: map({ a: '1', b: '2', c: '3' }),
        observed: map({ x: '', y: '' }),
        limit: 4,
      })

      expect([...changes.set.keys()]).to.deep.equal(['a', 'b'])
      expect([...left]).to.deep.equal([['c', { value: '3', reason: 'over-limit' }]])
    })

    it('gives the room of a removed tag to a new one', () => {
      const { changes } = plan({
        wish: map({ b: '2' }),
        owned: map({ a: ours('1') }),
        observed: map({ a: '1' }),
        limit: 1,
      })

      expect([...changes.set.keys()]).to.deep.equal(['b'])
      expect([...changes.remove.keys()]).to.deep.equal(['a'])
    })
  })

  describe('where removal is not allowed', () => {
    it('leaves the tag, and keeps it as its own', () => {
      const input = { owned: map({ a: ours('1'), b: ours('2') }), mayRemove: (key: string) => key === 'b' }
      const { changes, settled } = plan({ ...input, observed: map({ a: '1', b: '2' }) })

      expect([...changes.remove.keys()]).to.deep.equal(['b'])
      expect([...settled]).to.deep.equal([['a', { value: '1', before: false }]])
    })

    it('gives up a tag that somebody changed all the same', () => {
      const { settled } = plan({ owned: map({ a: ours('1') }), observed: map({ a: 'x' }), mayRemove: () => false })

      expect(settled.size).to.equal(0)
    })

    it('leaves it on the record alone too', () => {
      const { changes, settled } = plan({ owned: map({ a: ours('1') }), mayRemove: () => false })

      expect(changes.remove.size).to.equal(0)
      expect(settled.get('a')).to.deep.equal({ value: '1', before: false })
    })
  })

  describe('where the tags of an earlier tool are adopted', () => {
    it('takes what stands there as wished for its own, and nothing else', () => {
      const { changes, settled } = plan({
        wish: map({ a: '1', b: '2' }),
        observed: map({ a: '1', b: 'by hand', foreign: 'x' }),
        adopt: true,
      })

      expect([...changes.set]).to.deep.equal([['b', '2']])
      expect([...settled]).to.deep.equal([
        ['a', { value: '1', before: false }],
        ['b', { value: '2', before: true }],
      ])
    })
  })

  describe('on the record alone', () => {
    it('sets only what differs from the record, and removes under the recorded value', () => {
      const { changes } = plan({
        wish: map({ a: '1', b: 'new' }),
        owned: map({ a: ours('1'), b: ours('old'), c: ours('3') }),
      })

      expect([...changes.set]).to.deep.equal([['b', 'new']])
      expect([...changes.remove]).to.deep.equal([['c', ['3']]])
    })

    it('never removes a key that was there before', () => {
      expect(plan({ owned: map({ a: before('1') }) }).changes.remove.size).to.equal(0)
    })
  })

  describe('for any wish, record and disk', () => {
    const keys = fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__')
    const values = fc.constantFrom('', '1', '2', '3')
    const tags = fc.array(fc.tuple(keys, values)).map((entries) => new Map(entries))
    const touched = fc.record({ values: fc.array(values, { minLength: 1, maxLength: 2 }), before: fc.boolean() })
    const owned = fc.array(fc.tuple(keys, touched)).map((entries) => new Map(entries))
    const policy = fc.constantFrom('overwrite' as const, 'preserve' as const)
    const mayRemove = fc.constantFrom(
      () => true,
      () => false,
      (key: string) => key < 'c',
    )
    const limit = fc.integer({ min: 0, max: 8 })
    const inputs = fc.record({ wish: tags, owned, observed: tags, policy, limit, mayRemove, adopt: fc.boolean() })

    it('holds the wish afterwards, but for what it names as left out', () => {
      fc.assert(
        fc.property(inputs, (input) => {
          const result = plan(input)
          const disk = applied(input.observed, result)
          for (const [key, value] of input.wish) {
            if (!result.left.has(key)) expect(disk.get(key)).to.equal(value)
          }
        }),
      )
    })

    it('finds nothing to do when it plans again', () => {
      fc.assert(
        fc.property(inputs, (input) => {
          const result = plan(input)
          const again = plan({ ...input, owned: ownedAfter(result), observed: applied(input.observed, result) })
          expect([again.changes.set.size, again.changes.remove.size]).to.deep.equal([0, 0])
          expect(again.left).to.deep.equal(result.left)
        }),
      )
    })

    it('never touches a foreign tag, and never removes one that was there before or is wished', () => {
      fc.assert(
        fc.property(inputs, (input) => {
          const disk = applied(input.observed, plan(input))
          for (const [key, value] of input.observed) {
            const mine = input.owned.get(key)
            if (!input.wish.has(key) && (mine === undefined || mine.before || !mine.values.includes(value))) {
              expect(disk.get(key)).to.equal(value)
            }
            if (input.wish.has(key)) expect(disk.has(key)).to.equal(true)
          }
        }),
      )
    })

    it('touches exactly the keys that it changes, and knows the new value of each', () => {
      fc.assert(
        fc.property(inputs, (input) => {
          const { changes, touched } = plan(input)
          expect([...touched.keys()].toSorted()).to.deep.equal(
            [...changes.set.keys(), ...changes.remove.keys()].toSorted(),
          )
          for (const [key, value] of changes.set) expect(touched.get(key)?.values).to.include(value)
        }),
      )
    })

    it('never fills a disk beyond its limit', () => {
      fc.assert(
        fc.property(inputs, (input) => {
          const disk = applied(input.observed, plan(input))
          expect(disk.size).to.be.at.most(Math.max(input.limit, input.observed.size))
        }),
      )
    })
  })
})
