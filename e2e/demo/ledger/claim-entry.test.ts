import { expect } from 'chai'
import { isWaiting, latestCause, ourTags } from './claim-entry.ts'

describe('a claim entry', () => {
  it('counts tags as ours that come from a label and were not found on the disk', () => {
    const entry = {
      tags: { team: 'core', app: 'db', cluster: 'true', backup: 'daily' },
      foundTags: { cluster: 'true' },
      ourKeys: new Set(['team', 'app', 'cluster']),
    }

    const tags = ourTags(entry)

    expect(tags).to.deep.equal([
      ['app', 'db'],
      ['team', 'core'],
    ])
  })

  it('takes the latest of what happened before a write for its cause', () => {
    const happenedAtMs = { bind: 1000, label: 5000, hand: 9000 }

    expect(latestCause(happenedAtMs, 5130)).to.deep.equal({ cause: 'label', afterMs: 130 })
  })

  it('knows no cause of a write before anything has happened', () => {
    expect(latestCause({ bind: 1000 }, 900)).to.equal(undefined)
  })

  it('waits without a disk unless it was skipped', () => {
    const waiting = [
      { disk: undefined, reason: 'not bound yet' },
      { disk: undefined, reason: 'skipped: fsx.csi.aws.com is no EBS disk' },
      { disk: 'vol-1', reason: undefined },
    ].map(isWaiting)

    expect(waiting).to.deep.equal([true, false, false])
  })
})
