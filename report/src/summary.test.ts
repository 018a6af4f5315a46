import { expect } from 'chai'
import { clusterReport, row } from '../testing/rows.ts'
import { claimStates } from './cluster-report.ts'
import { summarize } from './summary.ts'
import { counted, grouped, percent, problemKindsOf } from './words.ts'

describe('summarize', () => {
  it('counts as covered only what carries tags, and as managed whatever has a disk or may have', () => {
    const claims = claimStates.map((state, index) => row({ name: `data-${index}`, state }))

    const { coverage, claims: all } = summarize([clusterReport({ claims })])

    expect(all).to.equal(8)
    expect(coverage).to.deep.equal({ covered: 1, all: 6 })
  })

  it('says of how many disks that wish a tag each carries it', () => {
    const claims = [
      row({ tags: [{ key: 'team', value: 'a', present: 'a', state: 'in-place' }] }),
      row({
        state: 'differs',
        tags: [
          { key: 'team', value: 'a', state: 'add' },
          { key: 'old', present: 'x', state: 'remove' },
        ],
      }),
      row({ state: 'missing', tags: [{ key: 'team', value: 'a', state: 'unknown' }] }),
    ]

    expect(summarize([clusterReport({ claims })]).byKey).to.deep.equal([{ name: 'team', covered: 1, all: 3 }])
  })

  it('puts first where the most is to be done', () => {
    const bad = (namespace: string, count: number) =>
      Array.from({ length: count }, (_, index) => row({ namespace, name: `x-${index}`, state: 'untagged', tags: [] }))
    const claims = [...bad('few', 1), ...bad('many', 3), row({ namespace: 'none' })]

    const { byNamespace } = summarize([clusterReport({ claims })])

    expect(byNamespace.map(({ name }) => name)).to.deep.equal(['many', 'few', 'none'])
  })

  it('keeps namespaces of one name apart by their cluster', () => {
    const { byNamespace, byCluster } = summarize([clusterReport(), clusterReport({ cluster: 'dev' })])

    expect(byNamespace.map(({ cluster, name }) => `${cluster} ${name}`)).to.have.members(['prod db', 'dev db'])
    expect(byCluster.map(({ name }) => name)).to.have.members(['prod', 'dev'])
  })

  it('counts each kind of problem once a claim, with an example', () => {
    const problem = { kind: 'changed-value', label: 'owner', message: 'it was cut' }
    const claims = [row({ problems: [problem, problem] }), row({ name: 'data-1', problems: [problem] })]

    const { problems, withProblems } = summarize([clusterReport({ claims })])

    expect(withProblems).to.equal(2)
    expect(problems).to.deep.equal([
      { kind: 'changed-value', claims: 2, example: { claim: 'db/data-0', message: 'owner: it was cut' } },
    ])
  })

  it('counts claims that lack a required label, and names labels that nobody lacks', () => {
    const claims = [
      row({ missingLabels: ['team'] }),
      row({ name: 'data-1' }),
      row({ state: 'skipped', missingLabels: ['team'] }),
    ]

    const { missingLabels, lackingLabels } = summarize([clusterReport({ claims, requiredLabels: ['stage', 'team'] })])

    expect(lackingLabels).to.equal(1)
    expect(missingLabels).to.deep.equal([
      { label: 'team', claims: 1 },
      { label: 'stage', claims: 0 },
    ])
  })

  it('adds up what would be written and what the look took', () => {
    const one = clusterReport({ wouldWrite: { disks: 1, add: 2, change: 3, remove: 4, cloudCalls: 5 } })

    const { wouldWrite, cloudCalls, kubernetesCalls } = summarize([one, { ...one, cluster: 'dev' }])

    expect(wouldWrite).to.deep.equal({ disks: 2, add: 4, change: 6, remove: 8, cloudCalls: 10 })
    expect([cloudCalls, kubernetesCalls]).to.deep.equal([2, 4])
  })
})

describe('words', () => {
  it('round down, so that 100 % means all and 0 % none', () => {
    expect(percent(9999, 10_000)).to.equal('99.9 %')
    expect(percent(10_000, 10_000)).to.equal('100 %')
    expect(percent(1, 100_000)).to.equal('0.0 %')
    expect(percent(0, 3)).to.equal('0 %')
    expect(percent(0, 0)).to.equal('–')
  })

  it('group thousands', () => {
    expect([grouped(999), grouped(1000), grouped(1_234_567)]).to.deep.equal(['999', '1,000', '1,234,567'])
    expect([counted(1, 'disk'), counted(1200, 'disk')]).to.deep.equal(['1 disk', '1,200 disks'])
  })

  it('take for a problem only what somebody has to look at', () => {
    const skipped = (reason: string) => [...problemKindsOf(row({ state: 'skipped', reason, tags: [] }))]

    expect(skipped('unsupported-volume')).to.deep.equal([])
    expect(skipped('volume-of-another-claim')).to.deep.equal(['volume-of-another-claim'])
    expect([...problemKindsOf(row({ state: 'pending', reason: 'claim-unbound' }))]).to.deep.equal([])
    expect([...problemKindsOf(row({ state: 'missing', reason: 'disk-not-found' }))]).to.deep.equal(['disk-not-found'])
  })
})
