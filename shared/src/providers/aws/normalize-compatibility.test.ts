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

const long = `${'p'.repeat(120)}.example.com/team`

describe('AWS tags as of k8s-cloud-tagger 0.4', () => {
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
    [{ 'key<with>bad%chars': '<>%&\\?/' }, { 'key-with-bad-chars': '-------' }],
    [{ 'kubernetes.io/foo': 'x' }, { 'kubernetes.io-foo': 'x' }],
    [{ [long]: 'x' }, { [long.slice(0, 128)]: 'x' }],
    [{ note: 'v'.repeat(300) }, { note: 'v'.repeat(256) }],
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

  for (const [when, labels, kind] of [
    ['a prefix that AWS refuses', { 'AWS:team': 'x' }, 'protected-key'],
    ['a prefix that it left out itself', { 'aws:team': 'x' }, 'protected-key'],
    ['a line break, for which AWS refuses the write', { note: 'a\nb' }, 'invalid-value'],
    ['C12: a key that is protected here', { Name: 'db' }, 'protected-key'],
  ] as const satisfies readonly (readonly [string, Tags, string])[]) {
    it(`leave out ${when}, and only that`, () => {
      expect(tagsOf({ ...labels, team: 'core' }, 'rust-0.4')).to.deep.equal({ tags: { team: 'core' }, left: [kind] })
    })
  }

  it('C12: hold a protected key that is allowed', () => {
    expect(tagsOf({ Name: 'db' }, 'rust-0.4', new Set(['Name']))).to.deep.equal({ tags: { Name: 'db' }, left: [] })
  })
})

describe('AWS tags as of k8s-pvc-tagger', () => {
  for (const [key, value] of [
    ['app.kubernetes.io/name', 'frontend'],
    ['helm.sh/chart', 'myapp-1.2.0'],
    ['a<b>&c', 'flopsy;mopsy'],
    ['Team', ''],
    ['k'.repeat(128), 'v'.repeat(256)],
  ] as const) {
    it(`are the labels as they are: ${key.slice(0, 30)}`, () => {
      expect(tagsOf({ [key]: value }, 'k8s-pvc-tagger')).to.deep.equal({ tags: { [key]: value }, left: [] })
    })
  }

  for (const [when, labels, kind] of [
    ['a key that AWS refuses', { [long]: 'x' }, 'invalid-key'],
    ['a value that AWS refuses', { note: 'v'.repeat(257) }, 'invalid-value'],
    ['C12: a key that it wrote only when told to', { name: 'db' }, 'protected-key'],
    ['E9: the key of a cluster, in any case', { kubernetescluster: 'x' }, 'protected-key'],
    ['E9: a key with the prefix of Kubernetes, in any case', { 'Kubernetes.IO/x': 'x' }, 'protected-key'],
    ['E10: a key of the CSI driver, which it overwrote', { CSIVolumeName: 'x' }, 'protected-key'],
  ] as const satisfies readonly (readonly [string, Tags, string])[]) {
    it(`leave out ${when}, and only that`, () => {
      expect(tagsOf({ ...labels, team: 'core' }, 'k8s-pvc-tagger')).to.deep.equal({
        tags: { team: 'core' },
        left: [kind],
      })
    })
  }

  it('C12: hold keys that it wrote only when told to, where they are allowed by name', () => {
    const allowed = new Set(['name', 'Name', 'kubernetes.io/x'])
    const labels = { name: 'a', Name: 'b', 'kubernetes.io/x': 'c' }

    expect(tagsOf(labels, 'k8s-pvc-tagger', allowed)).to.deep.equal({ tags: labels, left: [] })
  })
})
