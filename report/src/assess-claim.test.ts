import { MemoryProvider } from '@k8s-cloud-tagger/shared/providers/memory/memory-provider.ts'
import { RemovalBrake } from '@k8s-cloud-tagger/shared/tagger/removal-brake.ts'
import { silentLogger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import { serializeRecord } from '@k8s-cloud-tagger/shared/plan/record-codec.ts'
import type { AppliedRecord } from '@k8s-cloud-tagger/shared/plan/applied-record.ts'
import { claim, volume } from '@k8s-cloud-tagger/shared/testing/builders.ts'
import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { taggingRules } from '@k8s-cloud-tagger/shared/testing/tagging-rules.ts'
import type { TaggingRulesOptions } from '@k8s-cloud-tagger/shared/testing/tagging-rules.ts'
import { expect } from 'chai'
import { assessClaim } from './assess-claim.ts'

const clock = new FakeClock()
const provider = new MemoryProvider({ clock })
const disk = { id: 'vol-0123456789abcdef0' }

type Tags = Readonly<Record<string, string>>

interface Case {
  readonly labels?: Tags
  readonly annotations?: Tags
  /** Undefined: the disk is not looked at. */
  readonly observed?: Tags | undefined
  readonly settled?: Readonly<Record<string, { readonly value: string; readonly before: boolean }>>
  readonly record?: Partial<AppliedRecord>
  readonly applied?: string
  readonly rules?: Partial<TaggingRulesOptions>
}

function assess({ labels = {}, annotations = {}, observed, settled, record, applied, rules = {} }: Case) {
  const written: AppliedRecord = {
    volumeUid: 'volume-uid-1',
    claimUid: 'claim-uid-1',
    cloud: 'aws',
    diskId: disk.id,
    settledAtMs: 0,
    settled: new Map(Object.entries(settled ?? {})),
    left: new Map(),
    intent: undefined,
    ...record,
  }
  const hasRecord = settled !== undefined || record !== undefined
  const managed = {
    claim: claim({ labels, annotations }),
    namespace: undefined,
    volume: volume({ applied: applied ?? (hasRecord ? serializeRecord(written) : undefined) }),
    disk,
    juniors: [],
  }
  const tags = observed && new Map(Object.entries(observed))
  return assessClaim(managed, tags, taggingRules({ provider, clock, ...rules }))
}

function tagLines(assessed: ReturnType<typeof assess>): readonly string[] {
  return assessed.tags.map(({ key, value, present, state, reason }) => {
    return [`${key}=${value ?? ''}`, `(${present ?? ''})`, state, reason].filter((part) => part !== undefined).join(' ')
  })
}

const stopped = new RemovalBrake({ clock, logger: silentLogger, acknowledged: [], diskCount: () => 0 })
stopped.foresee(
  'old',
  Array.from({ length: 21 }, (_, index) => `vol-${index}`),
)

const cases: readonly (Case & { readonly when: string; readonly state: string; readonly tags: readonly string[] })[] = [
  {
    when: 'every tag is there',
    labels: { team: 'core' },
    observed: { team: 'core' },
    state: 'tagged',
    tags: ['team=core (core) in-place'],
  },
  {
    when: 'a tag is missing and another has another value',
    labels: { team: 'core', stage: 'prod' },
    observed: { team: 'nobody' },
    state: 'differs',
    tags: ['stage=prod () add', 'team=core (nobody) change'],
  },
  {
    when: 'a label is gone',
    observed: { old: 'x' },
    settled: { old: { value: 'x', before: false } },
    state: 'differs',
    tags: ['old= (x) remove'],
  },
  {
    when: 'a label is gone whose tag was there before us',
    observed: { old: 'x' },
    settled: { old: { value: 'x', before: true } },
    state: 'untagged',
    tags: ['old= (x) stays there-before'],
  },
  {
    when: 'a label is gone and somebody else has written its tag since',
    observed: { old: 'theirs' },
    settled: { old: { value: 'x', before: false } },
    state: 'untagged',
    tags: [],
  },
  {
    when: 'a label is gone and nothing is ever removed',
    observed: { old: 'x' },
    settled: { old: { value: 'x', before: false } },
    rules: { removes: false },
    state: 'untagged',
    tags: ['old= (x) stays removal-off'],
  },
  {
    when: 'a label is gone and the brake holds its tag',
    labels: { team: 'core' },
    observed: { old: 'x', team: 'core' },
    settled: { old: { value: 'x', before: false } },
    rules: { brake: stopped },
    state: 'tagged',
    tags: ['team=core (core) in-place', 'old= (x) stays brake'],
  },
  {
    when: 'an annotation with tags cannot be read',
    annotations: { 'k8s-cloud-tagger/tags': '{broken' },
    observed: { old: 'x' },
    settled: { old: { value: 'x', before: false } },
    rules: { config: { tags: { claimTags: true } } },
    state: 'untagged',
    tags: ['old= (x) stays unreadable-tags'],
  },
  {
    when: "somebody else's value is kept",
    labels: { team: 'core' },
    observed: { team: 'theirs' },
    rules: { conflict: 'preserve' },
    state: 'partial',
    tags: ['team=core (theirs) blocked kept-for-others'],
  },
  {
    when: 'the disk is full',
    labels: { team: 'core' },
    observed: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`theirs-${index}`, 'x'])),
    state: 'partial',
    tags: ['team=core () blocked disk-full'],
  },
  {
    when: 'no label and no rule makes a tag',
    observed: { theirs: 'x' },
    state: 'untagged',
    tags: [],
  },
  {
    when: 'only the record is asked, and it holds another value and a label that is gone',
    labels: { team: 'core', stage: 'prod' },
    settled: { team: { value: 'old', before: false }, gone: { value: 'x', before: false } },
    state: 'differs',
    tags: ['stage=prod () add', 'team=core (old) change', 'gone= (x) remove'],
  },
  {
    when: 'only the record is asked, and it says that a tag was left out on purpose',
    labels: { team: 'core' },
    record: { left: new Map([['team', { value: 'core', reason: 'kept' }]]) },
    state: 'partial',
    tags: ['team=core () blocked kept-for-others'],
  },
]

describe('assessClaim', () => {
  for (const { when, state, tags, ...input } of cases) {
    it(`says ${state} when ${when}`, () => {
      const assessed = assess(input)

      expect(assessed.state).to.equal(state)
      expect(tagLines(assessed)).to.deep.equal(tags)
    })
  }

  it('counts the tags of others and names none of them', () => {
    const { otherTags, tags } = assess({ labels: { team: 'core' }, observed: { team: 'core', a: '1', b: '2' } })

    expect(otherTags).to.equal(2)
    expect(tags.map(({ key }) => key)).to.deep.equal(['team'])
  })

  it('removes nothing on account of a record that cannot be read or is of another disk, and says so', () => {
    const foreign = assess({
      observed: { old: 'x' },
      settled: { old: { value: 'x', before: false } },
      record: { diskId: 'vol-00000000000000001' },
    })
    const unreadable = assess({ observed: { old: 'x' }, applied: '{"version":99}' })

    expect([foreign.record, foreign.changes.remove.size]).to.deep.equal(['foreign', 0])
    expect(foreign.problems.map(({ kind }) => kind)).to.deep.equal(['foreign-record'])
    expect([unreadable.record, unreadable.changes.remove.size]).to.deep.equal(['unreadable', 0])
    expect(unreadable.problems.map(({ kind }) => kind)).to.deep.equal(['unreadable-record'])
  })

  it('shows that a change is under way', () => {
    const intent = { by: 'webhook-0', untilMs: 1000, touched: new Map() }

    expect(assess({ observed: {}, record: { intent } }).record).to.equal('open')
  })
})
