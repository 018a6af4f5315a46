import { expect } from 'chai'
import { ownForm } from '../../tags/tag-form.ts'
import type { Compatibility } from '../../tags/tag-form.ts'
import { normalize } from './normalize.ts'

type Tags = Readonly<Record<string, string>>

function tagsOf(labels: Tags, compatibility: Compatibility, allowedKeys = ownForm.allowedKeys) {
  const { problems, tags } = normalize(new Map(Object.entries(labels)), { form: { compatibility, allowedKeys } })
  return {
    tags: Object.fromEntries(tags),
    left: problems.flatMap(({ kind, tag }) => (tag === undefined ? [kind] : [])),
  }
}

const prefixed = `${'p'.repeat(62)}.example.com/team`

describe('Google labels as of k8s-cloud-tagger 0.4', () => {
  for (const [labels, tags] of [
    [{ 'app.kubernetes.io/name': 'frontend' }, { 'app-kubernetes-io-name': 'frontend' }],
    [{ 'helm.sh/chart': 'myapp-1.2.0' }, { 'helm-sh-chart': 'myapp-1-2-0' }],
    [{ Team: 'Platform' }, { team: 'platform' }],
    [{ env: '' }, { env: '' }],
    [{ 'upgrades.dev/managed-by': 'k8s-cloud-tagger' }, { 'upgrades-dev-managed-by': 'k8s-cloud-tagger' }],
    [{ a_b: 'Ünter_den-Linden' }, { a_b: '-nter_den-linden' }],
    [{ İstanbul: '🦁' }, { 'i-stanbul': '-' }],
    [{ [prefixed]: 'v'.repeat(70) }, { [`${'p'.repeat(62)}-`]: 'v'.repeat(63) }],
  ] as const satisfies readonly (readonly [Tags, Tags])[]) {
    it(`are those that it wrote: ${JSON.stringify(labels).slice(0, 60)}`, () => {
      expect(tagsOf(labels, 'rust-0.4')).to.deep.equal({ tags, left: [] })
    })
  }

  for (const [labels, tags] of [
    [{ 'app-kubernetes-io/name': 'a', 'app.kubernetes.io/name': 'b' }, { 'app-kubernetes-io-name': 'b' }],
    [{ 'a-b': 'as it is', 'a.b': 'changed' }, { 'a-b': 'changed' }],
    [{ APP: '1', app: '2', App: '3' }, { app: '2' }],
  ] as const satisfies readonly (readonly [Tags, Tags])[]) {
    it(`C17: go to the last label in order where some become one key: ${Object.keys(labels).join(', ')}`, () => {
      const left = Array.from({ length: Object.keys(labels).length - 1 }, () => 'collision')

      expect(tagsOf(labels, 'rust-0.4')).to.deep.equal({ tags, left })
      expect(tagsOf(Object.fromEntries(Object.entries(labels).toReversed()), 'rust-0.4').tags).to.deep.equal(tags)
    })
  }

  for (const [when, labels, kind] of [
    ['a key that begins with no letter', { '123-team': 'value' }, 'invalid-key'],
    ['a key that begins with no letter to it', { Über: 'x' }, 'invalid-key'],
    ['C16: a key of Google', { 'goog-x': 'x' }, 'protected-key'],
    ['E9: a key that becomes one of the cluster', { 'kubernetes.io/cluster-x': 'x' }, 'protected-key'],
  ] as const satisfies readonly (readonly [string, Tags, string])[]) {
    it(`leave out ${when}, and only that`, () => {
      expect(tagsOf({ ...labels, team: 'core' }, 'rust-0.4')).to.deep.equal({ tags: { team: 'core' }, left: [kind] })
    })
  }

  it('C12: hold a protected key that is allowed, by the name that it has on the disk', () => {
    const labels = { 'kubernetes.io/cluster-x': 'x' }

    expect(tagsOf(labels, 'rust-0.4', new Set(['kubernetes-io-cluster-x'])).left).to.deep.equal([])
  })
})

describe('Google labels as of k8s-pvc-tagger', () => {
  for (const [labels, tags] of [
    [{ 'app.kubernetes.io/name': 'frontend' }, { 'app-kubernetes-io_name': 'frontend' }],
    [{ 'Example.com/Team': 'core' }, { 'example-com_team': 'core' }],
    [{ 'team_-': 'core' }, { team: 'core' }],
    [{ team: 'v'.repeat(70) }, { team: 'v'.repeat(63) }],
    [{ [prefixed]: 'x' }, { [`${'p'.repeat(62)}-`]: 'x' }],
    [{ ΟΔΟΣ: 'x' }, { οδοσ: 'x' }],
    [{ İstanbul: 'x' }, { istanbul: 'x' }],
    [{ ['東'.repeat(22)]: '東'.repeat(22) }, { ['東'.repeat(21)]: '東'.repeat(21) }],
  ] as const satisfies readonly (readonly [Tags, Tags])[]) {
    it(`are those that it wrote: ${JSON.stringify(labels).slice(0, 60)}`, () => {
      expect(tagsOf(labels, 'k8s-pvc-tagger')).to.deep.equal({ tags, left: [] })
    })
  }

  it('stay as they are when normalised again, where it would have cut off one more character', () => {
    const { tags } = tagsOf({ [prefixed]: 'x' }, 'k8s-pvc-tagger')

    expect(tagsOf(tags, 'k8s-pvc-tagger')).to.deep.equal({ tags, left: [] })
  })

  it('C17: go to the label that needed no change, else to the first in order, where its winner was random', () => {
    expect(tagsOf({ 'a.b': '1', 'a-b': '2' }, 'k8s-pvc-tagger')).to.deep.equal({
      tags: { 'a-b': '2' },
      left: ['collision'],
    })
    expect(tagsOf({ App: '2', APP: '1' }, 'k8s-pvc-tagger').tags).to.deep.equal({ app: '1' })
  })

  for (const [when, labels, kind] of [
    ['C7: a value with a dot, for which Google refused the write', { version: 'v1.2.3' }, 'invalid-value'],
    ['C7: a value with a capital letter', { tier: 'Team:A' }, 'invalid-value'],
    ['C10: a value in camel case', { state: 'setForDeletion' }, 'invalid-value'],
    ['a key that begins with no letter', { '123-team': 'x' }, 'invalid-key'],
    ['a key of which nothing is left', { '-_-': 'x' }, 'invalid-key'],
    ['a key that it cut through a letter', { [`a${'東'.repeat(22)}`]: 'x' }, 'invalid-key'],
    ['a key with a space', { 'Cost Center': 'x' }, 'invalid-key'],
    ['C12: a key that it wrote only when told to', { Name: 'x' }, 'protected-key'],
    ['a key that becomes such a key, which no label can', { 'name-': 'x' }, 'protected-key'],
    ['E9: a key with the prefix of Kubernetes', { 'kubernetes.io/x': 'x' }, 'protected-key'],
    ['C16: a key of Google', { 'google-y': 'x' }, 'protected-key'],
  ] as const satisfies readonly (readonly [string, Tags, string])[]) {
    it(`leave out ${when}, and only that`, () => {
      expect(tagsOf({ ...labels, team: 'core' }, 'k8s-pvc-tagger')).to.deep.equal({
        tags: { team: 'core' },
        left: [kind],
      })
    })
  }

  it('C12: hold a key that it wrote only when told to, where it is allowed by the name that it has on the disk', () => {
    const allowed = new Set(['name', 'kubernetes-io_x'])

    expect(tagsOf({ Name: 'a', 'kubernetes.io/x': 'b' }, 'k8s-pvc-tagger', allowed)).to.deep.equal({
      tags: { name: 'a', 'kubernetes-io_x': 'b' },
      left: [],
    })
  })
})
