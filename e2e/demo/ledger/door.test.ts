import { expect } from 'chai'
import type { AppliedRecord } from '@k8s-cloud-tagger/shared/plan/applied-record.ts'
import { doorOf } from './door.ts'

function record(overrides: Partial<AppliedRecord>): AppliedRecord {
  return {
    cloud: 'aws',
    volumeUid: 'v',
    claimUid: 'c',
    diskId: 'vol-1',
    settledAtMs: 0,
    settled: new Map(),
    left: new Map(),
    intent: undefined,
    ...overrides,
  }
}

const settled = new Map([['team', { value: 'core', before: false }]])
const intentOf = (by: string) => ({ by, untilMs: 1, touched: new Map() })

describe('the door that a change came through', () => {
  it('is the process that announced it', () => {
    const opened = record({ intent: intentOf('webhook-2') })

    const door = doorOf(opened, { team: 'core' })

    expect(door).to.equal('webhook-2')
  })

  it('is the sweep where the reconciler writes what the record said was there already', () => {
    const opened = record({ settled, intent: intentOf('reconciler') })

    expect(doorOf(opened, { team: 'core' })).to.equal('sweep')
  })

  it('is the reconciler where the labels differ from the record', () => {
    const opened = record({ settled, intent: intentOf('reconciler') })

    expect(doorOf(opened, { team: 'data' })).to.equal('reconciler')
  })

  it('is unknown where no change is under way', () => {
    expect(doorOf(record({ settled }), { team: 'core' })).to.equal(undefined)
  })
})
