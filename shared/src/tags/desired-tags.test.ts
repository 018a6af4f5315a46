import { expect } from 'chai'
import fc from 'fast-check'
import { claim as aClaim } from '../../testing/builders.ts'
import { rulesOf } from '../../testing/tagging-rules.ts'
import { lastAppliedAnnotation } from '../claims/annotations.ts'
import type { Claim } from '../claims/claim.ts'
import { desiredTags } from './desired-tags.ts'

interface Case {
  readonly title: string
  readonly tags?: object
  readonly labels?: Record<string, string>
  readonly annotations?: Record<string, string>
  readonly namespaceLabels?: Record<string, string>
  readonly claim?: Partial<Omit<Claim, 'key'>>
  readonly want: Record<string, string>
  /** `kind label` of each problem. */
  readonly problems?: readonly string[]
}

function desired({
  tags = {},
  labels = {},
  annotations = {},
  namespaceLabels = {},
  claim = {},
}: Omit<Case, 'title' | 'want'>) {
  const rules = rulesOf({ clusterName: 'prod-1', tags })
  const namespace = { name: 'shop', uid: 'n', resourceVersion: '1', labels: namespaceLabels, deleting: false }
  return desiredTags({ claim: aClaim({ namespace: 'shop', labels, annotations, ...claim }), namespace }, rules)
}

const cases: readonly Case[] = [
  {
    title: 'every label by default, and no annotation',
    labels: { team: 'core', 'a/b': '' },
    annotations: { x: 'y' },
    want: { team: 'core', 'a/b': '' },
  },
  {
    title: 'D5: no chart and version labels where they are excluded',
    tags: { labels: { exclude: ['helm.sh/chart', 'app.kubernetes.io/version'] } },
    labels: { team: 'core', 'helm.sh/chart': 'db-1.2.3', 'app.kubernetes.io/version': '15' },
    want: { team: 'core' },
  },
  {
    title: 'only the labels that are included',
    tags: { labels: { include: ['team', 'cost-*'] } },
    labels: { team: 'core', 'cost-center': '4711', other: 'x' },
    want: { team: 'core', 'cost-center': '4711' },
  },
  {
    title: 'I1: labels of the namespace that are listed',
    tags: { namespaceLabels: { include: ['cost-center'] } },
    namespaceLabels: { 'cost-center': '4711', 'kubernetes.io/metadata.name': 'shop' },
    want: { 'cost-center': '4711' },
  },
  {
    title: 'I2: annotations that are listed, and never our own',
    tags: { annotations: { include: ['*'] } },
    annotations: {
      [lastAppliedAnnotation]: '{}',
      note: 'x',
      'k8s-cloud-tagger/tags': 'a=b',
      'k8s-cloud-tagger/ignore': 'false',
    },
    want: { note: 'x' },
  },
  {
    title: 'D4: the tags of a StatefulSet whose template nobody can edit, from its namespace',
    tags: { defaults: { team: '{{ .NamespaceLabels.team }}' } },
    namespaceLabels: { team: 'payments' },
    want: { team: 'payments' },
  },
  {
    title: 'the later of default, namespace, label, annotation and own tag',
    tags: {
      defaults: { a: '1', b: '1', c: '1', d: '1', e: '1' },
      namespaceLabels: { include: ['*'] },
      annotations: { include: ['*'] },
      claimTags: true,
    },
    namespaceLabels: { b: '2', c: '2', d: '2', e: '2' },
    labels: { c: '3', d: '3', e: '3' },
    annotations: { d: '4', e: '4', 'k8s-cloud-tagger/tags': '{"e":"5"}' },
    want: { a: '1', b: '2', c: '3', d: '4', e: '5' },
  },
  {
    title: 'I5, I7: what templates make of the claim',
    tags: { defaults: { where: '{{ .Cluster }}/{{ .Namespace }}/{{ .Name }}', class: '{{ .StorageClass }}' } },
    want: { where: 'prod-1/shop/data-0', class: 'gp3' },
  },
  {
    title: 'no tag of a template whose field is not there, and says so',
    tags: { defaults: { team: '{{ .Labels.team }}' } },
    want: {},
    problems: ['invalid-template team'],
  },
  {
    title: 'no complaint about the volume of a claim that has none yet',
    tags: { defaults: { volume: '{{ .VolumeName }}' } },
    claim: { volumeName: undefined },
    want: {},
  },
  {
    title: 'no tag of a template that gives more than 1 KiB',
    tags: { defaults: { long: '{{ .Annotations.long }}' } },
    annotations: { long: 'x'.repeat(1025) },
    want: {},
    problems: ['invalid-template long'],
  },
  {
    title: 'an enforced tag, whatever a claim asks for',
    tags: { enforced: { 'cost-center': '4711', team: '{{ .NamespaceLabels.team }}' }, claimTags: true },
    namespaceLabels: { team: 'payments' },
    labels: { 'cost-center': '1' },
    annotations: { 'k8s-cloud-tagger/tags': '{"team":"mine"}' },
    want: { 'cost-center': '4711', team: 'payments' },
    problems: ['enforced cost-center', 'enforced team'],
  },
  {
    title: 'an enforced tag that a default says otherwise, without a complaint about the claim',
    tags: { enforced: { team: 'a' }, defaults: { team: 'b' } },
    want: { team: 'a' },
  },
  {
    title: 'C11: a key that billing takes, by a rename',
    tags: { rename: { 'app.kubernetes.io/name': 'app', 'kubernetes.io/created-for/pvc/namespace': 'namespace' } },
    labels: { 'app.kubernetes.io/name': 'db' },
    want: { app: 'db' },
  },
  {
    title: 'a prefix before every key but enforced ones',
    tags: { prefix: 'k8s:', enforced: { team: 'x' } },
    labels: { app: 'db' },
    want: { 'k8s:app': 'db', team: 'x' },
  },
  {
    title: 'an enforced tag over one that a rename gives its name',
    tags: { rename: { mine: 'team' }, enforced: { team: 'x' } },
    labels: { mine: 'y' },
    want: { team: 'x' },
    problems: ['enforced mine'],
  },
  {
    title: 'of two keys that get one name the one that has it already',
    tags: { rename: { 'app.kubernetes.io/name': 'app' } },
    labels: { 'app.kubernetes.io/name': 'long', app: 'short' },
    want: { app: 'short' },
    problems: ['collision app.kubernetes.io/name'],
  },
  {
    title: 'of two renamed keys the first in order',
    tags: { rename: { b: 'x', a: 'x' } },
    labels: { b: '2', a: '1' },
    want: { x: '1' },
    problems: ['collision b'],
  },
  {
    title: 'of two keys that get one name that of the later layer',
    tags: { rename: { mine: 'team' }, defaults: { team: 'default' } },
    labels: { mine: 'core' },
    want: { team: 'core' },
    problems: ['collision team'],
  },
  {
    title: 'no complaint where two keys agree',
    tags: { rename: { 'app.kubernetes.io/name': 'app' } },
    labels: { 'app.kubernetes.io/name': 'db', app: 'db' },
    want: { app: 'db' },
  },
  {
    title: 'C15: no value that is denied, and the default below it',
    tags: { denyValues: ['undefined', 'undefine', '*TODO*'], defaults: { team: 'platform' } },
    labels: { team: 'undefined', owner: 'TODO: ask', ok: 'x' },
    want: { team: 'platform', ok: 'x' },
    problems: ['denied-value team', 'denied-value owner'],
  },
  {
    title: 'no own tags of a claim where they are off',
    annotations: { 'k8s-cloud-tagger/tags': '{"a":"b"}' },
    want: {},
  },
  {
    title: "C4, C6: a claim's own tags with commas, equal signs and spaces",
    tags: { claimTags: true },
    annotations: { 'k8s-cloud-tagger/tags': '{"Owner":"First Name","list":"a,b=c"}' },
    want: { Owner: 'First Name', list: 'a,b=c' },
  },
  {
    title: "what templates make of a claim's own tags",
    tags: { claimTags: true },
    labels: { team: 'core' },
    annotations: { 'k8s-cloud-tagger/tags': '{"Owner":"{{ .Labels.team }}-{{ .Namespace }}","bad":"{{ printf }}"}' },
    want: { team: 'core', Owner: 'core-shop' },
    problems: ['invalid-template bad'],
  },
  {
    title: 'own tags under the prefix that users of k8s-pvc-tagger have',
    tags: { claimTags: true, annotationPrefixes: ['k8s-cloud-tagger', 'k8s-pvc-tagger', 'aws-ebs-tagger'] },
    annotations: { 'aws-ebs-tagger/tags': '{"me":"touge"}' },
    want: { me: 'touge' },
  },
]

describe('desired tags', () => {
  for (const { title, want, problems = [], ...input } of cases) {
    it(`are ${title}`, () => {
      const found = desired(input)

      expect(Object.fromEntries(found.tags)).to.deep.equal(want)
      expect(found.problems.map(({ kind, label }) => `${kind} ${label}`)).to.have.members(problems)
      expect(found.complete).to.equal(true)
    })
  }

  it('D10: say that they are not complete where an annotation cannot be read', () => {
    const found = desired({
      tags: { claimTags: true },
      labels: { team: 'core' },
      annotations: { 'k8s-cloud-tagger/tags': '{"a":' },
    })

    expect(Object.fromEntries(found.tags)).to.deep.equal({ team: 'core' })
    expect(found.complete).to.equal(false)
    expect(found.problems.map(({ kind }) => kind)).to.deep.equal(['invalid-annotation'])
  })

  describe('for any claim', () => {
    const keys = fc.constantFrom('a', 'b', 'c', 'x/y', 'Team', '__proto__', 'constructor')
    const map = fc.dictionary(keys, fc.constantFrom('1', '2', 'bad'), { maxKeys: 6 })
    const tags = fc.record({
      defaults: map,
      enforced: map,
      rename: fc.dictionary(keys, keys, { maxKeys: 4 }),
      prefix: fc.constantFrom('', 'p-'),
      denyValues: fc.constantFrom([], ['bad']),
      namespaceLabels: fc.constantFrom({ include: [] }, { include: ['*'] }),
    })
    const inputs = fc.record({ tags, labels: map, namespaceLabels: map })

    it('carry every enforced tag, as it is enforced', () => {
      fc.assert(
        fc.property(inputs, (input) => {
          const { tags: found, enforced } = desired(input)
          for (const [key, value] of Object.entries(input.tags.enforced)) {
            if (input.tags.denyValues.length > 0 && value === 'bad') continue
            expect(found.get(key)).to.equal(value)
            expect(enforced.has(key)).to.equal(true)
          }
        }),
      )
    })

    it('do not depend on the order of labels', () => {
      fc.assert(
        fc.property(inputs, (input) => {
          const reversed = { ...input, labels: Object.fromEntries(Object.entries(input.labels).toReversed()) }
          const sorted = (found: ReturnType<typeof desired>) => [...found.tags].toSorted(([a], [b]) => (a < b ? -1 : 1))
          expect(sorted(desired(reversed))).to.deep.equal(sorted(desired(input)))
        }),
      )
    })

    it('lose no label without a word', () => {
      fc.assert(
        fc.property(inputs, (input) => {
          const { tags: found, problems } = desired(input)
          const told = new Set(problems.map(({ label }) => label))
          for (const [label, value] of Object.entries(input.labels)) {
            const key = input.tags.prefix + (Object.hasOwn(input.tags.rename, label) ? input.tags.rename[label] : label)
            if (found.get(key) !== value) expect(told).to.include(label)
          }
        }),
      )
    })
  })
})
