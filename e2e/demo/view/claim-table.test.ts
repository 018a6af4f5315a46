import { expect } from 'chai'
import type { ClaimEntry } from '../ledger/claim-entry.ts'
import { claimTable } from './claim-table.ts'
import { claimEntry } from './entry-for-tests.ts'
import { plainStyle } from './style.ts'

const nothing: Partial<ClaimEntry> = { disk: undefined, tags: {}, door: undefined, lastWrite: undefined }

function table(entries: readonly ClaimEntry[], width = 100, linesMax = 20): readonly string[] {
  return claimTable(entries, { width, linesMax, style: plainStyle })
}

describe('the table of claims', () => {
  it('shows claim, disk, door, time and tags, and no tag of others', () => {
    const [header, row] = table([claimEntry()])

    expect(header).to.equal('CLAIM           DISK          DOOR        AFTER         TAGS FROM LABELS')
    expect(row).to.equal('shop/orders     vol-12345678  webhook-1   bind  118 ms  app=orders team=checkout')
  })

  it('shows in place of tags why there are none', () => {
    const rows = table([
      claimEntry({ ...nothing, reason: 'not bound yet' }),
      claimEntry({ ...nothing, reason: 'skipped: efs.csi.aws.com is no EBS disk' }),
      claimEntry({ ...nothing, disk: 'vol-1' }),
      claimEntry({ ...nothing, disk: 'vol-1', labels: {} }),
    ])

    const notes = rows.slice(1).map((row) => row.slice(30))
    expect(notes).to.deep.equal([
      'not bound yet',
      'skipped: efs.csi.aws.com is no EBS disk',
      'bound, not tagged yet',
      'it has no labels',
    ])
  })

  it('names a changed tag first, so that a narrow screen shows it', () => {
    const [, row] = table([claimEntry({ changedKeys: new Set(['team']) })], 75)

    expect(row).to.match(/ team=checkout \+1$/u)
  })

  for (const width of [60, 80, 120, 200]) {
    it(`is never wider than ${width} characters`, () => {
      const long = claimEntry({
        key: 'a-namespace-with-a-long-name/data-postgresql-primary-0',
        disk: 'vol-0123456789abcdef0',
        labels: { 'app.kubernetes.io/managed-by': 'somebody-with-a-long-name', 'app.kubernetes.io/part-of': 'all' },
      })

      const lines = table([long, claimEntry(), claimEntry({ ...nothing, reason: 'x'.repeat(300) })], width)

      expect(Math.max(...lines.map(({ length }) => length))).to.be.at.most(width)
    })
  }

  it('shows the last claims where there is no room for all, and counts the others', () => {
    const entries = Array.from({ length: 9 }, (_, index) => claimEntry({ key: `shop/data-${index}` }))

    const lines = table(entries, 100, 5)

    expect(lines).to.have.length(5)
    expect(lines[1]).to.match(/^shop\/data-6/u)
    expect(lines[4]).to.equal('… and 6 claims above these')
  })

  it('shows a group in one row, first how far it is and then its slowest', () => {
    const group = 'log/kafka-0…1'
    const first = claimEntry({ key: 'log/kafka-0', group })
    const second = claimEntry({
      key: 'log/kafka-1',
      group,
      door: 'webhook-2',
      lastWrite: { cause: 'bind', afterMs: 301 },
    })

    const [, half] = table([first, { ...second, tags: {} }])
    const [, whole] = table([first, second])

    expect(half).to.match(/2 disks {7}1 of 2 tagged$/u)
    expect(whole).to.match(/2 disks {7}webhook {5}bind {2}301 ms {2}app=orders team=checkout$/u)
  })
})
