import { MemoryProvider } from '@k8s-cloud-tagger/shared/providers/memory/memory-provider.ts'
import { serializeRecord } from '@k8s-cloud-tagger/shared/plan/record-codec.ts'
import { claim, volume } from '@k8s-cloud-tagger/shared/testing/builders.ts'
import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { taggingRules } from '@k8s-cloud-tagger/shared/testing/tagging-rules.ts'
import { expect } from 'chai'
import { Assembly } from './assemble.ts'
import type { AssembleOptions } from './assemble.ts'
import type { ClusterSnapshot } from './cluster-snapshot.ts'
import type { DiskReading } from './disk-readings.ts'

const clock = new FakeClock()
const provider = new MemoryProvider({ clock })
const diskId = 'vol-0123456789abcdef0'

function assembly(snapshot: Partial<ClusterSnapshot>, options: Partial<AssembleOptions> & { config?: object } = {}) {
  return new Assembly({
    snapshot: { claims: [claim()], volumes: [volume()], namespaces: [], unread: [], ...snapshot },
    rules: taggingRules({ provider, clock, config: options.config }),
    namespaces: [],
    requiredLabels: [],
    ...options,
  })
}

function fates(made: Assembly, readings?: ReadonlyMap<string, DiskReading>): readonly string[] {
  return made.assemble(readings).claims.map(({ name, state, reason }) => `${name} ${state} ${reason ?? ''}`.trim())
}

const withTags = (tags: Readonly<Record<string, string>>): DiskReading => ({
  kind: 'tags',
  tags: new Map(Object.entries(tags)),
})

describe('Assembly', () => {
  it('asks for the disks of managed claims only, each once', () => {
    const other = claim({ name: 'unbound', uid: 'u2', volumeName: undefined })
    const outside = claim({ namespace: 'elsewhere', uid: 'u3' })
    const config = { scope: { namespaces: { exclude: ['elsewhere'] } } }

    expect(assembly({ claims: [claim(), other, outside] }, { config }).disks).to.deep.equal([diskId])
  })

  it('says why a claim has no row of tags', () => {
    const claims = [
      claim({ name: 'data-0' }),
      claim({ name: 'data-1', uid: 'u1', volumeName: undefined }),
      claim({ name: 'data-2', uid: 'u2', volumeName: 'pv-gone' }),
      claim({ name: 'data-3', uid: 'u3', deleting: true }),
      claim({ name: 'data-4', uid: 'u4', volumeName: 'pv-1' }),
      claim({ name: 'data-5', uid: 'u5', annotations: { 'k8s-cloud-tagger/ignore': 'yes' } }),
    ]
    const made = assembly({ claims }, { config: { tags: { optOut: true } } })

    expect(fates(made, new Map([[diskId, withTags({})]]))).to.deep.equal([
      'data-0 untagged',
      'data-1 pending claim-unbound',
      'data-2 pending volume-not-found',
      'data-3 skipped claim-deleting',
      'data-4 skipped volume-of-another-claim',
      'data-5 skipped opted-out',
    ])
  })

  it('takes volumes that could not be listed for unread, never for missing', () => {
    const unread = [{ what: 'volumes', name: '', reason: 'denied' }] as const
    const made = assembly({ volumes: undefined, unread })

    expect(fates(made, new Map())).to.deep.equal(['data-0 unread volume-unreadable'])
    expect(made.assemble(new Map()).unread).to.deep.equal(unread)
  })

  it('takes a volume and a namespace that could not be read for unread, and others for what they are', () => {
    const config = { tags: { namespaceLabels: { include: ['*'] } } }
    const unread = [
      { what: 'volume', name: 'pv-1', reason: 'spec is missing' },
      { what: 'namespace', name: 'odd', reason: 'metadata.uid is missing' },
    ] as const
    const known = { name: 'db', uid: 'n1', resourceVersion: '1', labels: {}, deleting: false }
    const claims = [
      claim({ name: 'data-0' }),
      claim({ name: 'data-1', namespace: 'odd', uid: 'u1' }),
      claim({ name: 'data-2', namespace: 'gone', uid: 'u2' }),
    ]
    const made = assembly({ claims, volumes: [], namespaces: [known], unread }, { config })

    expect([...fates(made)].toSorted()).to.deep.equal([
      'data-0 unread volume-unreadable',
      'data-1 unread namespace-unreadable',
      'data-2 pending namespace-not-found',
    ])
  })

  it('shows only the namespaces that were asked for, and still knows which volume of a shared disk counts', () => {
    const elder = claim({ namespace: 'other', uid: 'u-elder', volumeName: 'pv-0' })
    const claimRef = { namespace: 'other', name: 'data-0', uid: 'u-elder' }
    const volumes = [volume(), volume({ name: 'pv-0', uid: 'v-elder', createdAtMs: 0, claimRef })]
    const made = assembly({ claims: [claim(), elder], volumes }, { namespaces: ['db'] })

    expect(fates(made)).to.deep.equal(['data-0 skipped disk-of-another-volume'])
    expect(made.disks).to.deep.equal([])
  })

  it('keeps what is wished of a disk that could not be read, and says why it could not', () => {
    const claims = [claim({ labels: { team: 'core' } })]
    const failed: DiskReading = { kind: 'failed', error: 'denied', message: 'not allowed', scope: 'aws/eu-west-1' }

    const { claims: rows, unread, wouldWrite } = assembly({ claims }).assemble(new Map([[diskId, failed]]))

    expect(rows[0]).to.deep.include({ state: 'unread', reason: 'denied', detail: 'not allowed' })
    expect(rows[0]?.tags).to.deep.equal([{ key: 'team', value: 'core', state: 'unknown' }])
    expect(unread).to.deep.equal([{ what: 'disks', name: 'aws/eu-west-1', reason: '1 disk: not allowed' }])
    expect(wouldWrite.disks).to.equal(0)
  })

  it('goes by the record where the read may be older than it', () => {
    const applied = serializeRecord({
      volumeUid: 'volume-uid-1',
      claimUid: 'claim-uid-1',
      cloud: 'aws',
      diskId,
      settledAtMs: 1_000_000,
      settled: new Map([['team', { value: 'core', before: false }]]),
      left: new Map(),
      intent: undefined,
    })
    const made = assembly({ claims: [claim({ labels: { team: 'core' } })], volumes: [volume({ applied })] })
    const stale = new Map([[diskId, withTags({})]])

    expect(made.assemble(stale, 1_000_000).claims[0]?.state).to.equal('tagged')
    expect(made.assemble(stale, 1_000_001).claims[0]?.state).to.equal('differs')
  })

  it('shows removals from many disks at once as held, as the brake would', () => {
    const claims = Array.from({ length: 30 }, (_, index) =>
      claim({ name: `data-${index}`, uid: `u${index}`, volumeName: `pv-${index}` }),
    )
    const volumes = claims.map(({ name, uid, volumeName = '' }, index) => {
      const handle = `vol-${index.toString(16).padStart(17, '0')}`
      const applied = serializeRecord({
        volumeUid: `v${index}`,
        claimUid: uid,
        cloud: 'aws',
        diskId: handle,
        settledAtMs: 0,
        settled: new Map([['old', { value: 'x', before: false }]]),
        left: new Map(),
        intent: undefined,
      })
      const source = { kind: 'csi', driver: 'ebs.csi.aws.com', handle } as const
      return volume({ name: volumeName, uid: `v${index}`, source, applied, claimRef: { namespace: 'db', name, uid } })
    })
    const made = assembly({ claims, volumes })
    const readings = new Map(made.disks.map((id) => [id, withTags({ old: 'x' })]))

    const { claims: rows, wouldWrite } = made.assemble(readings, 1)

    expect(wouldWrite.remove).to.equal(0)
    expect(new Set(rows.flatMap(({ tags }) => tags.map(({ reason }) => reason)))).to.deep.equal(new Set(['brake']))
  })

  it('names the required labels that a claim lacks, but not of claims that are out of scope', () => {
    const claims = [claim({ labels: { team: 'core' } }), claim({ name: 'out', namespace: 'elsewhere', uid: 'u2' })]
    const config = { scope: { namespaces: { exclude: ['elsewhere'] } } }
    const made = assembly({ claims }, { config, requiredLabels: ['team', 'cost-center'] })

    const { claims: rows } = made.assemble()

    expect(rows.map(({ missingLabels }) => missingLabels)).to.deep.equal([['cost-center'], []])
  })
})
