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

describe('Azure tags as of k8s-cloud-tagger 0.4', () => {
  for (const [labels, tags] of [
    [{ 'app.kubernetes.io/name': 'frontend' }, { 'app.kubernetes.io-name': 'frontend' }],
    [{ 'helm.sh/chart': 'myapp-1.2.0' }, { 'helm.sh-chart': 'myapp-1.2.0' }],
    [{ Team: 'Platform' }, { Team: 'Platform' }],
    [{ '123-team': 'value' }, { '123-team': 'value' }],
    [{ env: '' }, { env: '' }],
    [
      { 'app-kubernetes-io/name': 'a', 'app.kubernetes.io/name': 'b' },
      { 'app-kubernetes-io-name': 'a', 'app.kubernetes.io-name': 'b' },
    ],
    [{ path: 'Dev/Test' }, { path: 'Dev/Test' }],
    [{ 'a<b\\c': '<%&>' }, { 'a-b-c': '<%&>' }],
    [{ ['k'.repeat(600)]: 'v'.repeat(300) }, { ['k'.repeat(512)]: 'v'.repeat(256) }],
  ] as const satisfies readonly (readonly [Tags, Tags])[]) {
    it(`are those that it wrote: ${JSON.stringify(labels).slice(0, 60)}`, () => {
      expect(tagsOf(labels, 'rust-0.4')).to.deep.equal({ tags, left: [] })
    })
  }

  it('C17: go to the last label in order where two become one key, whatever the order of the wish', () => {
    for (const labels of [
      { 'a/b': '1', 'a-b': '2' },
      { 'a-b': '2', 'a/b': '1' },
    ]) {
      expect(tagsOf(labels, 'rust-0.4')).to.deep.equal({ tags: { 'a-b': '1' }, left: ['collision'] })
    }
  })

  it('C17: go to the winner of our own form where names differ in case only: it sent both', () => {
    expect(tagsOf({ app: '1', App: '2' }, 'rust-0.4')).to.deep.equal({ tags: { App: '2' }, left: ['collision'] })
    // First a/b takes a-b, as in 0.4; of a-b, which was changed, and A-b the latter needed no change.
    expect(tagsOf({ 'a/b': '1', 'a-b': '2', 'A-b': '3' }, 'rust-0.4').tags).to.deep.equal({ 'A-b': '3' })
  })

  for (const [when, labels, kind] of [
    ['a prefix that Azure refuses', { 'microsoft-team': 'x' }, 'protected-key'],
    ['a value that is too long to Azure all the same', { note: '🦁'.repeat(256) }, 'invalid-value'],
    ['E9: a key that becomes one of the CSI driver', { 'kubernetes.io/created-for-pvc-name': 'x' }, 'protected-key'],
  ] as const satisfies readonly (readonly [string, Tags, string])[]) {
    it(`leave out ${when}, and only that`, () => {
      expect(tagsOf({ ...labels, team: 'core' }, 'rust-0.4')).to.deep.equal({ tags: { team: 'core' }, left: [kind] })
    })
  }
})

describe('Azure tags as of k8s-pvc-tagger', () => {
  for (const [labels, tags] of [
    [{ 'app.kubernetes.io/name': 'frontend' }, { 'app.kubernetes.io_name': 'frontend' }],
    [{ 'example.com/team': 'Core' }, { 'example.com_team': 'Core' }],
    [{ 'a<b\\c': 'Dev/Test' }, { a_b_c: 'Dev/Test' }],
    [{ 'key.with.dots': 'v'.repeat(256) }, { 'key.with.dots': 'v'.repeat(256) }],
    [{ ['k'.repeat(600)]: 'x' }, { ['k'.repeat(512)]: 'x' }],
  ] as const satisfies readonly (readonly [Tags, Tags])[]) {
    it(`are those that it wrote: ${JSON.stringify(labels).slice(0, 60)}`, () => {
      expect(tagsOf(labels, 'k8s-pvc-tagger')).to.deep.equal({ tags, left: [] })
    })
  }

  it('C17: go to the winner of our own form where some become one key, for which it wrote nothing at all', () => {
    expect(tagsOf({ 'a/b': '1', a_b: '2', team: 'core' }, 'k8s-pvc-tagger')).to.deep.equal({
      tags: { a_b: '2', team: 'core' },
      left: ['collision'],
    })
  })

  for (const [when, labels, kind] of [
    ['a value of more than 256 bytes', { note: '🦁'.repeat(65) }, 'invalid-value'],
    ['a key that it cut through a letter', { [`a${'東'.repeat(200)}`]: 'x' }, 'invalid-key'],
    ['C12: a key that it wrote only when told to', { NAME: 'x' }, 'protected-key'],
    ['E9: a key with the prefix of Kubernetes', { 'kubernetes.io/x': 'x' }, 'protected-key'],
    ['a prefix that Azure refuses', { 'azure-team': 'x' }, 'protected-key'],
  ] as const satisfies readonly (readonly [string, Tags, string])[]) {
    it(`leave out ${when}, and only that`, () => {
      expect(tagsOf({ ...labels, team: 'core' }, 'k8s-pvc-tagger')).to.deep.equal({
        tags: { team: 'core' },
        left: [kind],
      })
    })
  }

  it('C12: hold a key that it wrote only when told to, where it is allowed in whatever case', () => {
    const labels = { NAME: 'a', 'kubernetes.io/x': 'b' }

    expect(tagsOf(labels, 'k8s-pvc-tagger', new Set(['name', 'Kubernetes.io_x']))).to.deep.equal({
      tags: { NAME: 'a', 'kubernetes.io_x': 'b' },
      left: [],
    })
  })
})
