import { expect } from 'chai'
import { claim as aClaim, volume as aVolume } from '../../testing/builders.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { taggingRules } from '../../testing/tagging-rules.ts'
import { serializeRecord } from '../plan/record-codec.ts'
import { MemoryProvider } from '../providers/memory/memory-provider.ts'
import { ClusterCache } from './cluster-cache.ts'
import { foreseenRemovals } from './foreseen-removals.ts'

function start(config: object = {}) {
  const clock = new FakeClock()
  const cache = new ClusterCache('aws')
  const tagging = taggingRules({ provider: new MemoryProvider({ clock }), clock, config })
  const add = (name: string, labels: Record<string, string>, settled: Record<string, { before: boolean }>) => {
    const record = {
      volumeUid: name,
      claimUid: name,
      cloud: 'aws' as const,
      diskId: `vol-${name}`,
      settledAtMs: clock.wallMs(),
      settled: new Map(Object.entries(settled).map(([key, { before }]) => [key, { value: 'x', before }])),
      left: new Map(),
      intent: undefined,
    }
    cache.putClaim(aClaim({ name, uid: name, volumeName: name, labels }))
    cache.putVolume(
      aVolume({
        name,
        uid: name,
        claimRef: { namespace: 'db', name, uid: name },
        source: { kind: 'csi', driver: 'ebs.csi.aws.com', handle: `vol-${name}` },
        applied: serializeRecord(record),
      }),
    )
  }
  return { add, foreseen: () => Object.fromEntries(foreseenRemovals(cache, tagging)) }
}

const ours = { before: false }

describe('foreseen removals', () => {
  it('are the disks that would lose a tag of ours, by tag', () => {
    const { add, foreseen } = start()
    add('0a', { team: 'x' }, { team: ours })
    add('0b', {}, { team: ours, env: ours })
    add('0c', { env: 'x' }, { team: ours, env: ours })

    expect(foreseen()).to.deep.equal({ team: ['vol-0b', 'vol-0c'], env: ['vol-0b'] })
  })

  it('leave out what was there before us, and claims that are left alone', () => {
    const { add, foreseen } = start({ scope: { claimSelector: '!private' } })
    add('0a', {}, { team: { before: true } })
    add('0b', { private: '' }, { team: ours })

    expect(foreseen()).to.deep.equal({})
  })

  it('leave out claims whose annotation cannot be read: they lose nothing', () => {
    const { add, foreseen } = start({ tags: { claimTags: true, annotationPrefixes: ['x'] } })
    add('0a', {}, { team: ours })

    expect(foreseen()).to.deep.equal({ team: ['vol-0a'] })
  })
})
