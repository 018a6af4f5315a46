import { expect } from 'chai'
import { claim as aClaim, volume as aVolume } from '../../testing/builders.ts'
import type { AppliedRecord } from '../plan/applied-record.ts'
import { isFreshVolume, needsObservation } from './needs-observation.ts'
import type { ObservationInput } from './needs-observation.ts'

const record: AppliedRecord = {
  volumeUid: 'volume-uid-1',
  claimUid: 'claim-uid-1',
  cloud: 'aws',
  diskId: 'vol-0123456789abcdef0',
  settledAtMs: 0,
  settled: new Map([['team', { value: 'core', before: false }]]),
  left: new Map(),
  intent: undefined,
}

const usual: ObservationInput = {
  wish: new Map([['team', 'infra']]),
  record,
  policy: 'overwrite',
  replacesWholeSet: false,
  driftSuspected: false,
  freshVolume: false,
}

describe('needsObservation', () => {
  const cases: readonly (readonly [string, Partial<ObservationInput>, boolean])[] = [
    ['a value changes under a key that the record holds', {}, false],
    ['a key goes', { wish: new Map() }, false],
    ['a key comes that the record does not hold', { wish: new Map([['env', 'prod']]) }, true],
    ['a key comes that was left out before', { record: { ...record, settled: new Map() } }, true],
    ['a disk gets its first tags that was there before us', { record: undefined }, true],
    ['a disk gets its first tags that was just made for its claim', { record: undefined, freshVolume: true }, false],
    ['drift is suspected', { driftSuspected: true }, true],
    [
      'drift is suspected on a disk that was just made',
      { record: undefined, freshVolume: true, driftSuspected: true },
      true,
    ],
    ['values of others are to be kept', { policy: 'preserve' }, true],
    ['the cloud replaces the whole set', { replacesWholeSet: true }, true],
    [
      'a change is still open',
      { record: { ...record, intent: { by: 'pod-a', untilMs: 0, touched: new Map() } } },
      true,
    ],
  ]
  for (const [when, more, needed] of cases) {
    it(`${needed ? 'reads the disk' : 'writes without a read'} when ${when}`, () => {
      expect(needsObservation({ ...usual, ...more })).to.equal(needed)
    })
  }
})

describe('isFreshVolume', () => {
  const nowMs = Date.UTC(2026, 0, 1)
  const provisioned = { name: 'pvc-claim-uid-1', provisionedBy: 'ebs.csi.aws.com', createdAtMs: nowMs - 10_000 }
  const cases: readonly (readonly [string, object, boolean])[] = [
    ['was provisioned for this very claim seconds ago', {}, true],
    ['was provisioned for it five minutes ago', { createdAtMs: nowMs - 5 * 60_000 }, false],
    ['was provisioned for another claim', { name: 'pvc-claim-uid-2' }, false],
    ['was made by hand under such a name', { provisionedBy: undefined }, false],
    ['was made by hand with the mark of a provisioner', { name: 'pv-1' }, false],
  ]
  for (const [which, more, fresh] of cases) {
    it(`${fresh ? 'trusts' : 'does not trust'} a volume that ${which}`, () => {
      expect(isFreshVolume(aClaim(), aVolume({ ...provisioned, ...more }), nowMs)).to.equal(fresh)
    })
  }
})
