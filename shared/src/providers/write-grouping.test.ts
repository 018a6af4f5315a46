import { expect } from 'chai'
import * as fc from 'fast-check'
import type { Operation, Pair, WriteCall, WriteGroup } from './write-grouping.ts'
import { cheapestCalls, chooseWrites, nameOfAll, namedPairs, operations } from './write-grouping.ts'

type Tags = Readonly<Record<string, string>>

/** Groups as a queue makes them: disks by equal writes, named `disk-<n>`. */
function groupsOf(writes: readonly { readonly set?: Tags; readonly remove?: Tags }[]): WriteGroup<string>[] {
  const groups = new Map<string, { write: WriteGroup<string>['write']; jobs: Set<string> }>()
  writes.forEach(({ set = {}, remove = {} }, index) => {
    const write = { set: namedPairs(Object.entries(set)), remove: namedPairs(Object.entries(remove)) }
    const name = `${nameOfAll(write.set)}|${nameOfAll(write.remove)}`
    const group = groups.get(name) ?? { write, jobs: new Set() }
    group.jobs.add(`disk-${index}`)
    groups.set(name, group)
  })
  return [...groups.values()]
}

const setting = (count: number, tags: (index: number) => Tags) =>
  groupsOf(Array.from({ length: count }, (_, index) => ({ set: tags(index) })))

/** What the calls do to each disk: its pairs, each once. */
function effectOf(calls: readonly WriteCall<string>[]): Map<string, string[]> {
  const effect = new Map<string, string[]>()
  for (const { jobs, operation, pairs } of calls) {
    for (const disk of jobs) {
      const done = effect.get(disk) ?? []
      done.push(...pairs.map((pair) => named(operation, pair)))
      effect.set(disk, done)
    }
  }
  for (const done of effect.values()) done.sort()
  return effect
}

function wishOf(groups: readonly WriteGroup<string>[]): Map<string, string[]> {
  return new Map(
    groups.flatMap(({ jobs, write }) => {
      const wish = operations.flatMap((operation) =>
        [...write[operation].values()].map((pair) => named(operation, pair)),
      )
      return [...jobs].map((disk) => [disk, wish.sort()] as const)
    }),
  )
}

const named = (operation: Operation, [key, value]: Pair) => `${operation} ${key}=${value}`

describe('cheapestCalls', () => {
  it('sends equal writes in one call', () => {
    const calls = cheapestCalls(
      setting(300, () => ({ app: 'a', team: 'core' })),
      1000,
    )

    expect(calls.map(({ jobs, pairs }) => [jobs.length, pairs.length])).to.deep.equal([[300, 2]])
  })

  it('splits what does not fit into one call', () => {
    const calls = cheapestCalls(
      setting(2500, () => ({ app: 'a' })),
      1000,
    )

    expect(calls.map(({ jobs }) => jobs.length)).to.deep.equal([1000, 1000, 500])
  })

  it('sends tags one by one where their combinations are many', () => {
    const grid = setting(1000, (i) => ({
      a: `${i % 10}`,
      b: `${Math.floor(i / 10) % 10}`,
      c: `${Math.floor(i / 100)}`,
    }))

    expect(grid).to.have.length(1000)
    expect(cheapestCalls(grid, 1000)).to.have.length(30)
  })

  it('sends what many share first and equal remainders next', () => {
    // Twenty apps in three environments; an app's name and its owner always come together.
    const groups = setting(60, (i) => ({ app: `app-${i % 20}`, owner: `owner-${i % 20}`, env: `env-${i % 3}` }))

    expect(cheapestCalls(groups, 1000)).to.have.length(23)
  })

  it('keeps to one call a disk where company saves nothing', () => {
    const groups = setting(50, (i) => ({ app: `app-${i}`, team: `team-${i % 5}` }))

    const calls = cheapestCalls(groups, 1000)

    expect(calls).to.have.length(50)
    expect(calls.every(({ jobs }) => jobs.length === 1)).to.equal(true)
  })

  it('sends removals by themselves, each with its value', () => {
    const groups = groupsOf([
      { set: { a: '1' }, remove: { b: '2' } },
      { set: { a: '1' }, remove: { b: '3' } },
    ])

    const calls = cheapestCalls(groups, 1000)

    expect(calls.map(({ operation, pairs }) => [operation, pairs])).to.deep.equal([
      ['set', [['a', '1']]],
      ['remove', [['b', '2']]],
      ['remove', [['b', '3']]],
    ])
  })

  it('does to every disk exactly what it asked for, in no more calls than by write or by tag', () => {
    const value = fc.constantFrom('1', '2', '3')
    const tags = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value, { noNullPrototype: true })
    const writes = fc.array(fc.record({ set: tags, remove: tags }), { maxLength: 40 })

    fc.assert(
      fc.property(writes, fc.integer({ min: 1, max: 10 }), (writes, idsPerCall) => {
        const groups = groupsOf(writes.filter(({ set, remove }) => Object.keys({ ...set, ...remove }).length > 0))

        const calls = cheapestCalls(groups, idsPerCall)

        expect(effectOf(calls)).to.deep.equal(wishOf(groups))
        expect(calls.every(({ jobs, pairs }) => jobs.length <= idsPerCall && pairs.length > 0)).to.equal(true)
        expect(calls.length).to.be.at.most(callsByWrite(groups, idsPerCall))
        expect(calls.length).to.be.at.most(callsByTag(groups, idsPerCall))
      }),
    )
  })
})

function callsByWrite(groups: readonly WriteGroup<string>[], idsPerCall: number): number {
  return sumOf(operations, (operation) => {
    const disks = new Map<string, number>()
    for (const { jobs, write } of groups) {
      const name = nameOfAll(write[operation])
      if (name !== '') disks.set(name, (disks.get(name) ?? 0) + jobs.size)
    }
    return sumOf([...disks.values()], (count) => Math.ceil(count / idsPerCall))
  })
}

function callsByTag(groups: readonly WriteGroup<string>[], idsPerCall: number): number {
  return sumOf(operations, (operation) => {
    const disks = new Map<string, number>()
    for (const { jobs, write } of groups) {
      for (const name of write[operation].keys()) disks.set(name, (disks.get(name) ?? 0) + jobs.size)
    }
    return sumOf([...disks.values()], (count) => Math.ceil(count / idsPerCall))
  })
}

function sumOf<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + numberOf(item), 0)
}

describe('chooseWrites', () => {
  const limits = { idsPerCall: 1000, callsAtOnce: { set: 32, remove: 32 } }
  const first = (groups: readonly WriteGroup<string>[]) => {
    const [leading] = groups
    if (leading === undefined) throw new Error('no groups')
    return leading
  }

  it('lets a group leave alone where nobody is like it', () => {
    const groups = setting(10, (i) => ({ app: `app-${i}`, env: 'prod' }))

    const calls = chooseWrites(groups, first(groups), limits)

    expect(effectOf(calls)).to.deep.equal(wishOf([first(groups)]))
  })

  it('takes no more than one call’s disks', () => {
    const groups = setting(2500, () => ({ app: 'a' }))

    const [call, ...others] = chooseWrites(groups, first(groups), limits)

    expect(others).to.deep.equal([])
    expect(call?.jobs).to.have.length(1000)
  })

  it('takes along those with which it can share calls', () => {
    const groups = setting(400, (i) => ({ app: `app-${i % 20}`, env: `env-${Math.floor(i / 20) % 5}`, x: `${i % 4}` }))

    const calls = chooseWrites(groups, first(groups), limits)

    expect(calls.length).to.be.at.most(25)
    expect(effectOf(calls).size).to.equal(400)
  })

  it('takes fewer along where the budget has fewer calls', () => {
    const groups = setting(400, (i) => ({ app: `app-${i % 20}`, env: `env-${Math.floor(i / 20) % 5}`, x: `${i % 4}` }))

    const calls = chooseWrites(groups, first(groups), { ...limits, callsAtOnce: { set: 10, remove: 10 } })

    expect(calls.length).to.be.at.most(10)
    expect(effectOf(calls).size).to.be.greaterThan(20)
  })

  it('makes whole writes of whatever it takes, the leading group among them', () => {
    const value = fc.constantFrom('1', '2', '3')
    const tags = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value, { minKeys: 1, noNullPrototype: true })
    const cases = fc.record({
      writes: fc.array(fc.record({ set: tags, remove: tags }), { minLength: 1, maxLength: 60 }),
      idsPerCall: fc.integer({ min: 1, max: 50 }),
      atOnce: fc.integer({ min: 1, max: 8 }),
    })

    fc.assert(
      fc.property(cases, ({ atOnce, idsPerCall, writes }) => {
        const groups = groupsOf(writes)
        const leading = first(groups)

        const calls = chooseWrites(groups, leading, { idsPerCall, callsAtOnce: { set: atOnce, remove: atOnce } })

        const effect = effectOf(calls)
        const wish = wishOf(groups)
        expect(effect.has([...leading.jobs][0] ?? '')).to.equal(true)
        for (const [disk, done] of effect) expect(done).to.deep.equal(wish.get(disk))
        for (const operation of operations) {
          expect(calls.filter((call) => call.operation === operation).length).to.be.at.most(atOnce)
        }
      }),
    )
  })
})
