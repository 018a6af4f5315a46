import { expect } from 'chai'
import fc from 'fast-check'
import {
  gcpDiskId,
  lookUpGcpDisk,
  parseGcpDiskId,
  zonesNamed,
  type GcpDiskLookup,
  type GcpVolumeSource,
  type NodeRequirement,
} from './gcp-disk.ts'

const csi = (handle: string, driver = 'pd.csi.storage.gke.io'): GcpVolumeSource => ({ kind: 'csi', driver, handle })
const inTree = (pdName: string): GcpVolumeSource => ({ kind: 'gcePersistentDisk', pdName })
const inZones = (...values: string[]): NodeRequirement => ({ key: 'topology.gke.io/zone', operator: 'In', values })

function told(lookup: GcpDiskLookup): string {
  return lookup.kind === 'disk' ? lookup.disk.id : lookup.reason
}

interface Case {
  readonly when: string
  readonly source: GcpVolumeSource
  readonly zones?: readonly string[]
  readonly want: string
}

const cases: readonly Case[] = [
  {
    when: 'a zonal handle',
    source: csi('projects/acme-prod/zones/europe-west4-b/disks/pvc-1'),
    want: 'projects/acme-prod/zones/europe-west4-b/disks/pvc-1',
  },
  {
    when: 'B6: a regional handle',
    source: csi('projects/acme-prod/regions/europe-west4/disks/pvc-1'),
    want: 'projects/acme-prod/regions/europe-west4/disks/pvc-1',
  },
  {
    when: 'a project with a domain',
    source: csi('projects/example.com:acme/zones/us-central1-a/disks/d'),
    want: 'projects/example.com:acme/zones/us-central1-a/disks/d',
  },
  {
    when: 'a project by its number',
    source: csi('projects/123456789012/zones/us-central1-a/disks/d'),
    want: 'projects/123456789012/zones/us-central1-a/disks/d',
  },
  {
    when: 'a migrated handle without a project',
    source: csi('projects/UNSPECIFIED/zones/us-central1-a/disks/d'),
    want: 'projects/UNSPECIFIED/zones/us-central1-a/disks/d',
  },
  {
    when: 'a migrated regional handle',
    source: csi('projects/UNSPECIFIED/regions/us-central1/disks/d'),
    want: 'projects/UNSPECIFIED/regions/us-central1/disks/d',
  },
  {
    when: 'a handle without a zone, and a volume that names one',
    source: csi('projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d'),
    zones: ['us-central1-a'],
    want: 'projects/UNSPECIFIED/zones/us-central1-a/disks/d',
  },
  {
    when: 'a handle with a zone, whatever the volume names',
    source: csi('projects/p-1/zones/us-central1-a/disks/d'),
    zones: ['us-central1-b'],
    want: 'projects/p-1/zones/us-central1-a/disks/d',
  },
  {
    when: 'a handle without a zone anywhere',
    source: csi('projects/p-1/zones/UNSPECIFIED/disks/d'),
    want: 'malformed-handle',
  },
  {
    when: 'a handle without a zone, and two zones to choose from',
    source: csi('projects/p-1/zones/UNSPECIFIED/disks/d'),
    zones: ['us-central1-a', 'us-central1-b'],
    want: 'malformed-handle',
  },
  {
    when: 'B2: an in-tree disk with its zone',
    source: inTree('data-0'),
    zones: ['us-central1-a'],
    want: 'projects/UNSPECIFIED/zones/us-central1-a/disks/data-0',
  },
  {
    when: 'an in-tree disk in two zones of a region',
    source: inTree('data-0'),
    zones: ['us-central1-a', 'us-central1-ai1b'],
    want: 'projects/UNSPECIFIED/regions/us-central1/disks/data-0',
  },
  { when: 'B2: an in-tree disk without a zone', source: inTree('data-0'), want: 'malformed-handle' },
  {
    when: 'an in-tree disk in zones of two regions',
    source: inTree('data-0'),
    zones: ['us-central1-a', 'us-east1-b'],
    want: 'malformed-handle',
  },
  {
    when: 'an in-tree disk in three zones',
    source: inTree('data-0'),
    zones: ['us-central1-a', 'us-central1-b', 'us-central1-c'],
    want: 'malformed-handle',
  },
  { when: 'an in-tree disk in no proper zone', source: inTree('data-0'), zones: ['a', 'b'], want: 'malformed-handle' },
  {
    when: 'a multi-zone volume',
    source: csi('projects/p-1/zones/multi-zone/disks/d'),
    want: 'unsupported-volume',
  },
  { when: 'a multi-zone region', source: csi('projects/p-1/regions/multi-zone/disks/d'), want: 'malformed-handle' },
  {
    when: 'Filestore',
    source: csi('modeInstance/us-central1-c/inst/vol1', 'filestore.csi.storage.gke.io'),
    want: 'unsupported-volume',
  },
  {
    when: "another driver with a disk's handle",
    source: csi('projects/p-1/zones/us-central1-a/disks/d', 'gcsfuse.csi.storage.gke.io'),
    want: 'unsupported-volume',
  },
  { when: 'a snapshot', source: csi('projects/p-1/global/snapshots/s'), want: 'malformed-handle' },
  { when: 'an instance', source: csi('projects/p-1/zones/us-central1-a/instances/i'), want: 'malformed-handle' },
  { when: 'a bare name', source: csi('pvc-1'), want: 'malformed-handle' },
  { when: 'an empty handle', source: csi(''), want: 'malformed-handle' },
  { when: 'a second line', source: csi('projects/p-1/zones/us-central1-a/disks/d\nx'), want: 'malformed-handle' },
  { when: 'a line end', source: csi('projects/p-1/zones/us-central1-a/disks/d\n'), want: 'malformed-handle' },
  { when: 'a query', source: csi('projects/p-1/zones/us-central1-a/disks/d?x=1'), want: 'malformed-handle' },
  { when: 'a way up', source: csi('projects/../zones/us-central1-a/disks/d'), want: 'malformed-handle' },
  { when: 'an upper-case disk', source: csi('projects/p-1/zones/us-central1-a/disks/D'), want: 'malformed-handle' },
]

describe('lookUpGcpDisk', () => {
  for (const { source, want, when, zones = [] } of cases) {
    it(`answers ${want} for ${when}`, () => {
      expect(told(lookUpGcpDisk(source, zones))).to.equal(want)
    })
  }

  it('names what it refuses, briefly', () => {
    expect(lookUpGcpDisk(csi('x'.repeat(2000)), [])).to.deep.equal({
      kind: 'not-a-disk',
      reason: 'malformed-handle',
      detail: 'x'.repeat(128),
    })
    expect(lookUpGcpDisk(csi('h', 'filestore.csi.storage.gke.io'), [])).to.include({
      detail: 'filestore.csi.storage.gke.io',
    })
  })
})

describe('zonesNamed', () => {
  const beta = 'failure-domain.beta.kubernetes.io/zone'
  const ga = 'topology.kubernetes.io/zone'

  for (const [when, labels, terms, want] of [
    ['neither label nor affinity', {}, [], []],
    ['the old label', { [beta]: 'z-a' }, [], ['z-a']],
    ['both labels', { [beta]: 'z-a', [ga]: 'z-b' }, [], ['z-a']],
    ['the new label', { [ga]: 'z-b' }, [], ['z-b']],
    ['a label with two zones', { [beta]: 'z-a__z-b' }, [], ['z-a', 'z-b']],
    ['a label and affinity', { [ga]: 'z-a' }, [[inZones('z-b')]], ['z-a']],
    ['an empty label', { [ga]: '' }, [[inZones('z-b')]], ['z-b']],
    ['two terms of affinity', {}, [[inZones('z-a')], [inZones('z-b', 'z-a')]], ['z-a', 'z-b']],
    ['affinity that excludes', {}, [[{ key: ga, operator: 'NotIn', values: ['z-a'] }]], []],
    ['affinity to something else', {}, [[{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n'] }]], []],
  ] as const) {
    it(`answers ${want.join(' and ') || 'nothing'} for ${when}`, () => {
      expect(zonesNamed(labels, terms)).to.deep.equal(want)
    })
  }
})

describe('the id of a Google disk', () => {
  const segment = fc.oneof(
    fc.constantFrom(
      '',
      'p',
      'UNSPECIFIED',
      'multi-zone',
      'us-central1-a',
      'us-central1',
      '..',
      'a b',
      'Ä',
      'a%2Fb',
      '-',
    ),
    fc.string(),
  )
  const pathLike = fc
    .tuple(segment, fc.constantFrom('zones', 'regions', 'global'), segment, segment)
    .map(([project, kind, place, disk]) => `projects/${project}/${kind}/${place}/disks/${disk}`)
  const anything = fc.oneof(fc.string(), pathLike)

  it('is itself again when it was understood, and nothing in it can leave its place in a URL', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const name = parseGcpDiskId(text)
        if (name === undefined) return
        expect(gcpDiskId(name)).to.equal(text)
        expect(text).to.match(/^[-a-zA-Z0-9/.:]+$/)
        expect(text).not.to.contain('..')
        expect(text.split('/')).to.have.length(6)
      }),
      { numRuns: 2000 },
    )
  })

  it('is never made of a handle that is none, whatever the zones', () => {
    fc.assert(
      fc.property(anything, fc.array(segment, { maxLength: 3 }), (handle, zones) => {
        const lookup = lookUpGcpDisk(csi(handle), zones)
        if (lookup.kind === 'disk') expect(parseGcpDiskId(lookup.disk.id)).not.to.equal(undefined)
      }),
      { numRuns: 2000 },
    )
  })

  it('is never made of a name that is none, whatever the zones', () => {
    fc.assert(
      fc.property(segment, fc.array(segment, { maxLength: 3 }), (pdName, zones) => {
        const lookup = lookUpGcpDisk(inTree(pdName), zones)
        if (lookup.kind === 'disk') expect(parseGcpDiskId(lookup.disk.id)?.disk).to.equal(pdName)
      }),
      { numRuns: 2000 },
    )
  })
})
