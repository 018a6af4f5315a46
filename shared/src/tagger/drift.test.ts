import { expect } from 'chai'
import { claim as aClaim, volume as aVolume } from '../../testing/builders.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { taggingRules } from '../../testing/tagging-rules.ts'
import type { AppliedRecord, Intent } from '../plan/applied-record.ts'
import { serializeRecord } from '../plan/record-codec.ts'
import { MemoryProvider } from '../providers/memory/memory-provider.ts'
import { hasDrifted, isComparable } from './drift.ts'
import type { DriftInput } from './drift.ts'

const disk = { id: 'vol-0123456789abcdef0' }
const readAtMs = Date.UTC(2026, 0, 1)
const hourMs = 3_600_000
const lagMs = 120_000

const provider = Object.assign(new MemoryProvider({ clock: new FakeClock() }), { readLagMs: lagMs })
const rules = taggingRules({ provider, clock: new FakeClock() })

function record(more: Partial<AppliedRecord> = {}): AppliedRecord {
  return {
    volumeUid: 'volume-uid-1',
    claimUid: 'claim-uid-1',
    cloud: 'aws',
    diskId: disk.id,
    settledAtMs: readAtMs - hourMs,
    settled: new Map([['team', { value: 'core', before: false }]]),
    left: new Map(),
    intent: undefined,
    ...more,
  }
}

function intentUntil(untilMs: number): Intent {
  return { by: 'pod', untilMs, touched: new Map() }
}

function pair(
  applied: AppliedRecord | string | undefined,
  labels: Record<string, string> = { team: 'core' },
): DriftInput {
  const text = typeof applied === 'object' ? serializeRecord(applied) : applied
  return {
    claim: aClaim({ labels, createdAtMs: readAtMs - hourMs }),
    namespace: undefined,
    volume: aVolume({ createdAtMs: readAtMs - hourMs, applied: text }),
    disk,
  }
}

describe('hasDrifted', () => {
  const cases: readonly (readonly [string, DriftInput, Record<string, string>, boolean])[] = [
    ['the disk is as it should be', pair(record()), { team: 'core', foreign: 'x' }, false],
    ['a tag was changed by hand', pair(record()), { team: 'by hand' }, true],
    ['a tag was deleted by hand', pair(record()), { foreign: 'x' }, true],
    ['a tag of ours is still there whose label went', pair(record(), {}), { team: 'core' }, true],
    ['such a tag has another value now', pair(record(), {}), { team: 'by hand' }, false],
    ['a disk without a record lacks the tags', pair(undefined), { foreign: 'x' }, true],
    ['a disk without a record has the tags', pair(undefined), { team: 'core' }, false],
    ['an abandoned change has to be closed', pair(record({ intent: intentUntil(0) })), { team: 'core' }, true],
    ['foreign tags come and go', pair(record()), { team: 'core', other: 'y' }, false],
    ['the record is of another disk and would remove', pair(record({ diskId: 'vol-2' }), {}), { team: 'core' }, false],
    ['the record is of another cloud and would remove', pair(record({ cloud: 'gcp' }), {}), { team: 'core' }, false],
  ]
  for (const [when, input, observed, drifted] of cases) {
    it(`says ${drifted ? 'so' : 'no'} when ${when}`, () => {
      expect(hasDrifted(input, new Map(Object.entries(observed)), rules)).to.equal(drifted)
    })
  }

  it('keeps what others put there where that is the policy', () => {
    const observed = new Map([['team', 'theirs']])
    const input = pair(record({ settled: new Map(), left: new Map([['team', { value: 'core', reason: 'kept' }]]) }))

    expect(hasDrifted(input, observed, { ...rules, conflict: 'preserve' })).to.equal(false)
    expect(hasDrifted(input, observed, rules)).to.equal(true)
  })
})

describe('isComparable', () => {
  const cases: readonly (readonly [string, DriftInput, boolean])[] = [
    ['whose record was settled long before', pair(record()), true],
    [
      'whose record was settled just longer ago than reads may lag',
      pair(record({ settledAtMs: readAtMs - lagMs - 1 })),
      true,
    ],
    ['whose record is younger than reads may lag', pair(record({ settledAtMs: readAtMs - lagMs })), false],
    ['with a change under way', pair(record({ intent: intentUntil(readAtMs + 1) })), false],
    ['whose change may have landed a moment ago', pair(record({ intent: intentUntil(readAtMs - lagMs) })), false],
    ['whose change was abandoned', pair(record({ intent: intentUntil(readAtMs - lagMs - 1) })), true],
    ['without a record and with labels', pair(undefined), true],
    ['without a record and without labels', pair(undefined, {}), false],
    ['whose record nobody can read', pair('{"version":99}'), true],
  ]
  for (const [which, input, comparable] of cases) {
    it(`${comparable ? 'compares' : 'leaves out'} a disk ${which}`, () => {
      expect(isComparable(input, readAtMs, rules)).to.equal(comparable)
    })
  }

  for (const young of ['claim', 'volume'] as const) {
    it(`leaves out a disk whose ${young} has just come: it is on its way`, () => {
      const input = pair(undefined)
      const fresh = { ...input, [young]: { ...input[young], createdAtMs: readAtMs - 30_000 } }

      expect(isComparable(fresh, readAtMs, rules)).to.equal(false)
    })
  }
})
