import { expect } from 'chai'
import * as fc from 'fast-check'
import type { DiskQuery } from './compute-api.ts'
import { sweepFolder } from './folder-sweep.ts'

type Labels = Readonly<Record<string, string>>

interface Shelf {
  /** All disks of the zone, in the order in which they are listed. */
  readonly disks: readonly (readonly [name: string, labels?: Labels])[]
  readonly pageSize?: number
}

function startWith({ disks, pageSize = 500 }: Shelf) {
  const queries: DiskQuery[] = []
  const gets: string[] = []
  const all = disks.map(([name, labels = {}]) => ({ name, observed: { tags: new Map(Object.entries(labels)) } }))
  const sweep = async (names: readonly string[]) => {
    const found: string[] = []
    const swept = sweepFolder(names, {
      list: async (query) => {
        queries.push(query)
        const [, key, value] = /^labels\.(.+)=(.*)$/.exec(query.filter ?? '') ?? []
        const passing = key === undefined ? all : all.filter(({ observed }) => observed.tags.get(key) === value)
        const from = Number(query.pageToken ?? 0)
        const next = from + pageSize
        return { disks: passing.slice(from, next), nextToken: next < passing.length ? String(next) : undefined }
      },
      get: async (name) => {
        gets.push(name)
        return all.find((disk) => disk.name === name)?.observed
      },
    })
    for await (const [name] of swept) found.push(name)
    return found
  }
  return { sweep, queries, gets, calls: () => queries.length + gets.length }
}

const ours = { 'goog-k8s-cluster-name': 'ours' }
const theirs = { 'goog-k8s-cluster-name': 'theirs' }
const named = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`)

/** Ours among ten times as many of others, evenly spread. */
function spread(count: number, labels: Labels): (readonly [name: string, labels?: Labels])[] {
  const disks: (readonly [name: string, labels?: Labels])[] = []
  for (const name of named('our', count)) {
    disks.push([name, labels])
    for (const their of named(`their-of-${name}`, 10)) disks.push([their, theirs])
  }
  return disks
}

describe('sweepFolder', () => {
  it('makes one call where all disks are on one page, missing ones or not', async () => {
    const { calls, sweep } = startWith({ disks: named('our', 400).map((name) => [name] as const) })

    expect(await sweep([...named('our', 400), 'gone'])).to.have.length(400)
    expect(calls()).to.equal(1)
  })

  it('asks for a single disk by its name', async () => {
    const { gets, queries, sweep } = startWith({ disks: [['our-0'], ['their-0']] })

    expect(await sweep(['our-0'])).to.deep.equal(['our-0'])
    expect([gets, queries]).to.deep.equal([['our-0'], []])
  })

  it('makes no call for no disk', async () => {
    const { calls, sweep } = startWith({ disks: [['our-0']] })

    expect(await sweep([])).to.deep.equal([])
    expect(calls()).to.equal(0)
  })

  it('reads 10,000 disks among 100,000 others by the label of the cluster, in a page more than there are', async () => {
    const { calls, queries, sweep } = startWith({ disks: spread(10_000, ours) })

    expect(await sweep(named('our', 10_000))).to.have.length(10_000)
    expect(calls()).to.equal(21)
    expect(queries[1]).to.deep.equal({ filter: 'labels.goog-k8s-cluster-name=ours' })
  })

  it('asks by name for the few that have not the label', async () => {
    const disks = [...spread(1000, ours), ['static-0', {}] as const, ['static-1', {}] as const]
    const { gets, queries, sweep } = startWith({ disks })

    const found = await sweep([...named('our', 1000), 'static-0', 'static-1', 'gone'])

    expect(found).to.have.length(1002)
    expect(gets).to.have.members(['static-0', 'static-1', 'gone'])
    expect(queries).to.have.length(3)
  })

  it('goes on with all pages where too many have not the label', async () => {
    const unlabelled = named('static', 900).map((name) => [name] as const)
    const { gets, queries, sweep } = startWith({ disks: [...spread(600, ours), ...unlabelled] })

    const found = await sweep([...named('our', 600), ...named('static', 900)])

    expect(found).to.have.length(1500)
    expect(gets).to.deep.equal([])
    expect(queries.filter(({ filter }) => filter === undefined).map(({ pageToken }) => pageToken)).to.deep.equal([
      undefined,
      ...Array.from({ length: 14 }, (_, i) => String((i + 1) * 500)),
    ])
  })

  it('does not ask by a label that everybody has', async () => {
    const { queries, sweep } = startWith({ disks: named('our', 1200).map((name) => [name, ours] as const) })

    await sweep(named('our', 1200))

    expect(queries.map(({ filter }) => filter)).to.deep.equal([undefined, undefined, undefined])
  })

  it('asks by name rather than leaf through a project of others', async () => {
    const { calls, sweep } = startWith({
      disks: [...named('their', 50_000), ...named('our', 10)].map((name) => [name] as const),
    })

    expect(await sweep(named('our', 10))).to.have.length(10)
    expect(calls()).to.be.at.most(20)
  })

  it("takes OpenShift's label, and no value that would need quoting", async () => {
    const openshift = { 'kubernetes-io-cluster-prod-x1': 'owned', 'goog-k8s-cluster-name': 'a"b' }
    const { queries, sweep } = startWith({ disks: spread(200, openshift) })

    await sweep(named('our', 200))

    expect(queries[1]?.filter).to.equal('labels.kubernetes-io-cluster-prod-x1=owned')
  })

  it('passes on a failure', async () => {
    const failure = new Error('denied')
    const swept = sweepFolder(['a', 'b'], { list: () => Promise.reject(failure), get: async () => undefined })

    expect(await swept.next().catch((error: unknown) => error)).to.equal(failure)
  })

  it('finds exactly what is there, each disk once, in at most twice the calls of either plain way', async () => {
    const labels = fc.constantFrom<Labels>({}, ours, theirs)
    const shelf = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 300 }), labels), {
      selector: ([number]) => number,
      maxLength: 150,
    })
    await fc.assert(
      fc.asyncProperty(shelf, fc.uniqueArray(fc.integer({ min: 0, max: 330 })), async (numbers, wanted) => {
        const disks = numbers.map(([number, labels]) => [`d-${number}`, labels] as const)
        const { calls, sweep } = startWith({ disks, pageSize: 10 })
        const present = new Set<string>(disks.map(([name]) => name))
        const names = wanted.map((number) => `d-${number}`)

        const found = await sweep(names)

        expect(found.toSorted()).to.deep.equal(names.filter((name) => present.has(name)).toSorted())
        expect(calls()).to.be.at.most(2 * names.length)
      }),
    )
  })
})
