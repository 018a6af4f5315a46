import { expect } from 'chai'
import fc from 'fast-check'
import { claim, volume } from '../../testing/builders.ts'
import type { Claim } from './claim.ts'
import { ebsVolumeIdOf } from './ebs-volume.ts'
import { resolveDisk } from './resolve.ts'
import type { Volume } from './volume.ts'

const csi = (driver: string, handle: string): Partial<Volume> => ({ source: { kind: 'csi', driver, handle } })
const inTree = (volumeId: string): Partial<Volume> => ({ source: { kind: 'awsElasticBlockStore', volumeId } })
const other = (type: string, detail?: string): Partial<Volume> => ({ source: { kind: 'other', type, detail } })

interface Case {
  readonly when: string
  readonly claim?: Partial<Claim>
  readonly volume?: Partial<Volume>
  readonly want: string
}

const cases: readonly Case[] = [
  {
    when: 'the EBS CSI driver made it',
    volume: csi('ebs.csi.aws.com', 'vol-0123456789abcdef0'),
    want: 'vol-0123456789abcdef0',
  },
  {
    when: 'B9: EKS Auto Mode made it',
    volume: csi('ebs.csi.eks.amazonaws.com', 'vol-0123456789abcdef0'),
    want: 'vol-0123456789abcdef0',
  },
  { when: 'the id is of the old, short form', volume: csi('ebs.csi.aws.com', 'vol-0123abcd'), want: 'vol-0123abcd' },
  {
    when: 'B3: the in-tree source names zone and id',
    volume: inTree('aws://eu-west-1a/vol-0123abcd'),
    want: 'vol-0123abcd',
  },
  { when: 'the in-tree source has an empty zone', volume: inTree('aws:///vol-0123abcd'), want: 'vol-0123abcd' },
  { when: 'the in-tree source holds the bare id', volume: inTree('vol-0123abcd'), want: 'vol-0123abcd' },
  { when: 'B11: static, without provisioned-by', volume: { provisionedBy: undefined }, want: 'vol-0123456789abcdef0' },
  { when: 'B5: the claim has no storage class', claim: { storageClassName: undefined }, want: 'vol-0123456789abcdef0' },
  { when: 'the claim is unbound', claim: { volumeName: undefined }, want: 'pending claim-unbound' },
  { when: 'the claim is being deleted', claim: { deleting: true }, want: 'skip claim-deleting' },
  {
    when: 'B12: the volume belongs to another namespace',
    volume: { claimRef: { namespace: 'bank', name: 'data-0', uid: 'u' } },
    want: 'skip volume-of-another-claim',
  },
  {
    when: 'B12: the volume belongs to an earlier claim of that name',
    volume: { claimRef: { namespace: 'db', name: 'data-0', uid: 'old' } },
    want: 'skip volume-of-another-claim',
  },
  { when: 'the volume is not claimed yet', volume: { claimRef: undefined }, want: 'pending volume-unclaimed' },
  {
    when: 'the volume is reserved by name only',
    volume: { claimRef: { namespace: 'db', name: 'data-0', uid: undefined } },
    want: 'pending volume-unclaimed',
  },
  { when: 'B13: it is EFS', volume: csi('efs.csi.aws.com', 'fs-1::fsap-2'), want: 'skip unsupported-volume' },
  {
    when: 'B8: it is EFS in the new form',
    volume: csi('efs.csi.aws.com', 'efs:fs-1::fsap-2'),
    want: 'skip unsupported-volume',
  },
  {
    when: 'FSx uses a handle that looks like an EBS id',
    volume: csi('fsx.csi.aws.com', 'vol-0123abcd'),
    want: 'skip unsupported-volume',
  },
  { when: 'B13: it is a hostPath', volume: other('hostPath', '/data'), want: 'skip unsupported-volume' },
  { when: 'it is NFS', volume: other('nfs', '/export'), want: 'skip unsupported-volume' },
  {
    when: "it is another cloud's disk",
    volume: csi('disk.csi.azure.com', '/subscriptions/s'),
    want: 'skip unsupported-volume',
  },
  {
    when: 'the handle names an instance',
    volume: csi('ebs.csi.aws.com', 'i-0123456789abcdef0'),
    want: 'skip malformed-handle',
  },
  { when: 'the handle is empty', volume: csi('ebs.csi.aws.com', ''), want: 'skip malformed-handle' },
  {
    when: 'the handle holds a second line',
    volume: csi('ebs.csi.aws.com', 'vol-0123abcd\nvol-0123abce'),
    want: 'skip malformed-handle',
  },
]

describe('resolveDisk on AWS', () => {
  for (const each of cases) {
    it(`answers ${each.want} when ${each.when}`, () => {
      const resolution = resolveDisk(claim(each.claim), volume(each.volume), 'aws')

      expect(resolution.kind === 'ready' ? resolution.disk.id : `${resolution.kind} ${resolution.reason}`).to.equal(
        each.want,
      )
    })
  }

  it('answers that a claim is gone, and waits for a volume that is not there yet', () => {
    expect(resolveDisk(undefined, undefined, 'aws')).to.deep.equal({ kind: 'skip', reason: 'claim-gone' })
    expect(resolveDisk(claim(), undefined, 'aws')).to.deep.equal({ kind: 'pending', reason: 'volume-not-found' })
  })

  it('never takes a handle for an id unless it is exactly one', () => {
    fc.assert(
      fc.property(fc.string(), (handle) => {
        const id = ebsVolumeIdOf(handle)
        expect(id === undefined || handle.endsWith(id)).to.equal(true)
      }),
    )
  })
})

describe('resolveDisk with cloudProvider mock', () => {
  for (const [when, overrides, id] of [
    ['a CSI volume', csi('anything.example.com', 'h-1'), 'h-1'],
    ['a hostPath', other('hostPath', '/data'), '/data'],
    ['a volume without path or name', other('emptyThing'), 'emptyThing/pv-1'],
  ] as const) {
    it(`takes ${when} as a disk`, () => {
      const resolution = resolveDisk(claim(), volume(overrides), 'mock')

      expect(resolution).to.deep.include({ kind: 'ready', disk: { id } })
    })
  }

  it('still checks whose volume it is', () => {
    const stolen = volume({ claimRef: { namespace: 'bank', name: 'vault', uid: 'u' } })

    expect(resolveDisk(claim(), stolen, 'mock').kind).to.equal('skip')
  })
})

describe('resolveDisk on Azure', () => {
  const id =
    '/subscriptions/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0/resourceGroups/MC_group/providers/Microsoft.Compute/disks/pvc-1'
  const lower = id.toLowerCase()
  for (const [when, overrides, want] of [
    ['the CSI driver made it', csi('disk.csi.azure.com', id), lower],
    ['its id is spelled in another case', csi('disk.csi.azure.com', id.toUpperCase()), lower],
    ['the in-tree source names it', { source: { kind: 'azureDisk', diskUri: id } }, lower],
    ['it is a file share', csi('file.csi.azure.com', 'group#account#share'), 'skip unsupported-volume'],
    ['it is an EBS volume', csi('ebs.csi.aws.com', 'vol-0123abcd'), 'skip unsupported-volume'],
    [
      'it is a blob of old',
      { source: { kind: 'azureDisk', diskUri: 'https://a.blob.core.windows.net/vhds/x.vhd' } },
      'skip',
    ],
  ] as const) {
    it(`answers ${want} when ${when}`, () => {
      const resolution = resolveDisk(claim(), volume(overrides), 'azure')

      const answer = resolution.kind === 'ready' ? resolution.disk.id : `${resolution.kind} ${resolution.reason}`
      expect(answer.startsWith(want)).to.equal(true)
    })
  }
})

describe('resolveDisk on Google', () => {
  const handle = 'projects/p/zones/europe-west1-b/disks/pvc-1'
  for (const [when, overrides, want] of [
    ['the CSI driver made it', csi('pd.csi.storage.gke.io', handle), handle],
    [
      'B6: it is regional',
      csi('pd.csi.storage.gke.io', 'projects/p/regions/r/disks/d'),
      'projects/p/regions/r/disks/d',
    ],
    [
      'B2: only the in-tree source names it',
      { source: { kind: 'gcePersistentDisk', pdName: 'x' }, zones: ['europe-west1-b'] },
      'projects/UNSPECIFIED/zones/europe-west1-b/disks/x',
    ],
    [
      'a migrated handle leaves out project and zone',
      { ...csi('pd.csi.storage.gke.io', 'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/x'), zones: ['europe-west1-b'] },
      'projects/UNSPECIFIED/zones/europe-west1-b/disks/x',
    ],
    ['it lies in several zones', csi('pd.csi.storage.gke.io', 'projects/p/zones/multi-zone/disks/d'), 'skip'],
    ['it is Filestore', csi('filestore.csi.storage.gke.io', 'modeInstance/z/i/s'), 'skip unsupported-volume'],
  ] as const) {
    it(`answers ${want} when ${when}`, () => {
      const resolution = resolveDisk(claim(), volume(overrides), 'gcp')

      const answer = resolution.kind === 'ready' ? resolution.disk.id : `${resolution.kind} ${resolution.reason}`
      expect(answer.startsWith(want)).to.equal(true)
    })
  }
})
