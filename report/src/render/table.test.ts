import { expect } from 'chai'
import { clusterReport, row } from '../../testing/rows.ts'
import type { ClusterReport } from '../cluster-report.ts'
import { renderTable } from './table.ts'

function table(clusters: readonly ClusterReport[], width = 120, rowsMax = 200): readonly string[] {
  return [...renderTable(clusters, { width, rowsMax })].join('').split('\n')
}

describe('the table', () => {
  it('says the coverage, and which claims need what', () => {
    const differs = row({
      name: 'data-1',
      state: 'differs',
      tags: [
        { key: 'team', value: 'core', state: 'add' },
        { key: 'stage', value: 'prod', present: 'test', state: 'change' },
        { key: 'old', present: 'x', state: 'remove' },
      ],
    })
    const lines = table([clusterReport({ claims: [row(), differs] })])

    expect(lines).to.include('Coverage  50.0 %  1 of 2 disks carry what is wished')
    expect(lines.find((line) => line.startsWith('db/data-1'))).to.include('+team=core  ~stage=prod (was test)  -old=x')
    expect(lines.filter((line) => line.startsWith('db/data-0'))).to.deep.equal([])
  })

  it('has no line that is wider than it may be, however long names and values are', () => {
    const long = 'x'.repeat(300)
    const claim = row({
      namespace: long,
      name: long,
      state: 'differs',
      tags: [{ key: long, value: long, state: 'add' }],
    })
    const report = clusterReport({
      cluster: long,
      claims: [claim],
      unread: [{ what: 'claim', name: long, reason: long }],
    })

    for (const width of [60, 80, 200]) {
      for (const line of table([report], width)) expect(line.length).to.be.at.most(width)
    }
  })

  it('lets nobody write elsewhere on the terminal', () => {
    const value = '\u001B[2J\u001B]0;owned\u0007\u202Eevil\nnew line'
    const claim = row({ state: 'differs', tags: [{ key: 'k', value, state: 'add' }] })

    const text = table([clusterReport({ claims: [claim] })]).join('\n')

    for (const character of ['\u001B', '\u0007', '\u202E']) expect(text).to.not.include(character)
    expect(text.split('\n').some((line) => line.startsWith('new line'))).to.equal(false)
  })

  it('lists no more claims than it may, and says how to see the rest', () => {
    const claims = Array.from({ length: 7 }, (_, index) => row({ name: `data-${index}`, state: 'untagged', tags: [] }))

    const lines = table([clusterReport({ claims })], 120, 5)

    expect(lines.filter((line) => line.startsWith('db/data-'))).to.have.length(5)
    expect(lines).to.include('… and 2 more; --output csv, json or html has all')
  })

  it('says first of a fleet which cluster has what coverage', () => {
    const bad = clusterReport({ cluster: 'dev', claims: [row({ state: 'untagged', tags: [] })] })

    const lines = table([clusterReport(), bad])

    expect(lines[0]).to.equal('Fleet of 2 clusters')
    const dev = lines.find((line) => line.startsWith('  dev '))
    expect(dev).to.match(/0 % {2}0\/1$/)
  })

  it('says what could not be read', () => {
    const unread = [{ what: 'disks', name: 'aws/eu-west-1', reason: '3 disks: not allowed' }] as const

    const lines = table([clusterReport({ complete: false, unread })])

    expect(lines).to.include('NOT COMPLETE (prod): this could not be read')
    expect(lines).to.include('  disks aws/eu-west-1: 3 disks: not allowed')
  })

  it('has something to say of a cluster without claims', () => {
    expect(table([clusterReport({ claims: [] })])).to.include('Coverage  –  0 of 0 disks carry what is wished')
  })
})
