import { expect } from 'chai'
import { findDisk } from './resolution-words.ts'

const uid = 'a1'
const metadata = { uid, resourceVersion: '1', creationTimestamp: '2026-01-02T03:04:05Z' }

function claim(spec: object): object {
  return { metadata: { ...metadata, namespace: 'shop', name: 'data' }, spec }
}

function volume(spec: object, owner = { namespace: 'shop', name: 'data', uid }): object {
  return { metadata: { ...metadata, name: 'pv-1' }, spec: { claimRef: owner, ...spec } }
}

const bound = claim({ volumeName: 'pv-1' })
const ebs = { csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-12345678' } }

describe('the way from a claim to its disk, in words', () => {
  const cases = [
    {
      when: 'the claim is bound to an EBS volume',
      found: findDisk(bound, volume(ebs)),
      expected: { kind: 'disk', disk: { id: 'vol-12345678' } },
    },
    {
      when: 'the claim is not bound',
      found: findDisk(claim({}), undefined),
      expected: { kind: 'not-yet', reason: 'not bound yet' },
    },
    {
      when: 'the volume is one of EFS',
      found: findDisk(bound, volume({ csi: { driver: 'efs.csi.aws.com', volumeHandle: 'fs-1' } })),
      expected: { kind: 'none', reason: 'skipped: efs.csi.aws.com is no EBS disk' },
    },
    {
      when: 'the volume is of another claim',
      found: findDisk(bound, volume(ebs, { namespace: 'finance', name: 'ledger', uid: 'b2' })),
      expected: { kind: 'none', reason: 'skipped: the volume is of another claim' },
    },
    {
      when: 'the handle is no volume id',
      found: findDisk(bound, volume({ csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'i-1' } })),
      expected: { kind: 'none', reason: 'skipped: i-1 is no EBS volume id' },
    },
  ]
  for (const { when, found, expected } of cases) {
    it(`says ${expected.reason ?? 'which disk it is'} when ${when}`, () => {
      expect(found).to.deep.equal(expected)
    })
  }
})
