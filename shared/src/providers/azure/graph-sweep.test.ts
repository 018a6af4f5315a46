import { expect } from 'chai'
import { FakeClock } from '../../../testing/fake-clock.ts'
import { DiskStore } from '../../../testing/azure/disk-store.ts'
import { numberedDiskId } from '../../../testing/azure/control.ts'
import { answerQuery } from '../../../testing/azure/resource-graph.ts'
import { AccountBudget } from '../account-budget.ts'
import { ProviderError } from '../provider-error.ts'
import type { CallOptions } from '../provider.ts'
import { SlowLane } from '../slow-lane.ts'
import type { GraphPage, GraphQuery } from './arm-api.ts'
import { GraphSweep } from './graph-sweep.ts'

const clock = new FakeClock()
const id = (number: number, group?: string) => numberedDiskId(number, group).toLowerCase()
const numbers = (count: number, first = 1) => Array.from({ length: count }, (_, i) => first + i)

/** A sweep of a cloud in hand; `queries` is what it asked. */
function sweepOf(store: DiskStore, answer: (query: GraphQuery) => GraphPage = answerFrom(store)) {
  const queries: GraphQuery[] = []
  const sweep = new GraphSweep({
    clock,
    budget: new AccountBudget({ clock, rates: { QueryResources: { burst: 1000, perSecond: 10 } }, share: 1 }),
    slowLane: new SlowLane({ clock, random: { next: () => 0.5 } }),
    query: async (query) => {
      queries.push(query)
      return answer(query)
    },
  })
  return { sweep, queries }
}

function answerFrom(store: DiskStore): (query: GraphQuery) => GraphPage {
  return ({ subscription, query, rowsMax, skipToken }) => {
    const options = { $top: rowsMax, ...(skipToken !== undefined && { $skipToken: skipToken }) }
    const answer = answerQuery(store, JSON.stringify({ subscriptions: [subscription], query, options }))
    const { data, totalRecords, $skipToken } = answer as {
      data: { id: string; tags: Record<string, string> | null }[]
      totalRecords: number
      $skipToken?: string
    }
    const rows = data.map(({ id, tags }) => ({ id, tags: new Map(Object.entries(tags ?? {})) }))
    return { rows, total: totalRecords, skipToken: $skipToken }
  }
}

const options: CallOptions = { lane: 'bulk', signal: new AbortController().signal }

async function listed(sweep: GraphSweep, ids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for await (const [disk] of sweep.list(ids, options)) found.push(disk)
  return found
}

describe('a sweep by Resource Graph', () => {
  it('reads a group that is ours in a thousand disks a call', async () => {
    const store = new DiskStore(clock)
    for (const number of numbers(10_000)) store.add(numberedDiskId(number))
    const { queries, sweep } = sweepOf(store)

    const found = await listed(
      sweep,
      numbers(10_000).map((number) => id(number)),
    )

    expect(new Set(found).size).to.equal(10_000)
    expect([found.length, queries.length]).to.deep.equal([10_000, 10])
  })

  it('asks for few disks by id, of several groups at once, and never pages through a group that is not ours', async () => {
    const store = new DiskStore(clock)
    for (const number of numbers(5000)) store.add(numberedDiskId(number, 'shared'))
    store.add(numberedDiskId(1, 'other'))
    const { queries, sweep } = sweepOf(store)

    const wanted = [id(7, 'shared'), id(9000, 'shared'), id(1, 'other'), id(3, 'shared')]
    const found = await listed(sweep, wanted)

    expect(found).to.have.members([id(7, 'shared'), id(1, 'other'), id(3, 'shared')])
    expect(queries.length).to.equal(1)
  })

  it('turns from a group to ids where the first page shows that most of it is not ours', async () => {
    const store = new DiskStore(clock)
    for (const number of numbers(30_000)) store.add(numberedDiskId(number, 'shared'))
    const { queries, sweep } = sweepOf(store)

    const wanted = numbers(300).map((i) => id(i * 100, 'shared'))
    const found = await listed(sweep, wanted)

    expect(found).to.have.members(wanted)
    expect(queries.length).to.be.at.most(4)
  })

  it('asks no more once all are found', async () => {
    const store = new DiskStore(clock)
    for (const number of numbers(2500)) store.add(numberedDiskId(number))
    const { queries, sweep } = sweepOf(store)

    const found = await listed(
      sweep,
      numbers(2500).map((number) => id(number)),
    )

    expect([found.length, queries.length]).to.deep.equal([2500, 3])
  })

  it('asks each subscription by itself', async () => {
    const store = new DiskStore(clock)
    const other = numberedDiskId(1).replace('0f1e2d3c', 'ffffffff')
    store.add(numberedDiskId(1))
    store.add(other)
    const { queries, sweep } = sweepOf(store)

    const found = await listed(sweep, [id(1), other.toLowerCase(), 'vol-0123456789abcdef0'])

    expect(found).to.have.members([id(1), other.toLowerCase()])
    expect(new Set(queries.map(({ subscription }) => subscription)).size).to.equal(2)
  })

  it('takes smaller pages where a page weighs too much', async () => {
    const store = new DiskStore(clock)
    for (const number of numbers(1200)) store.add(numberedDiskId(number))
    const answer = answerFrom(store)
    const { queries, sweep } = sweepOf(store, (query) => {
      if (query.rowsMax > 300) throw new ProviderError('invalid', 'too large', { code: 'ResponsePayloadTooLarge' })
      return answer(query)
    })

    const found = await listed(
      sweep,
      numbers(1200).map((number) => id(number)),
    )

    expect(found.length).to.equal(1200)
    expect(new Set(queries.map(({ rowsMax }) => rowsMax))).to.deep.equal(new Set([1000, 250]))
  })

  it('rejects on the first page that cannot be read, and asks no more', async () => {
    const store = new DiskStore(clock)
    for (const number of numbers(3000)) store.add(numberedDiskId(number))
    const answer = answerFrom(store)
    const failure = new ProviderError('unavailable', 'no')
    const { queries, sweep } = sweepOf(store, (query) => {
      if (query.skipToken !== undefined) throw failure
      return answer(query)
    })

    const error = await listed(
      sweep,
      numbers(3000).map((number) => id(number)),
    ).catch((thrown: unknown) => thrown)

    expect(error).to.equal(failure)
    expect([queries.length, sweep.sweepsUnderWay]).to.deep.equal([2, 0])
  })

  it('ends unsent when it is stopped between pages', async () => {
    const store = new DiskStore(clock)
    for (const number of numbers(3000)) store.add(numberedDiskId(number))
    const { queries, sweep } = sweepOf(store, (query) => {
      sweep.stop()
      return answerFrom(store)(query)
    })

    const error = await listed(
      sweep,
      numbers(3000).map((number) => id(number)),
    ).catch((thrown: unknown) => thrown)

    expect(error).to.include({ kind: 'unavailable', outcomeUnknown: false })
    expect(queries.length).to.equal(1)
  })
})
