import { expect } from 'chai'
import { normalize } from './normalize.ts'

type Tags = Readonly<Record<string, string>>

function tagsOf(labels: Tags, allowedKeys: ReadonlySet<string> = new Set()) {
  const form = { compatibility: 'none', allowedKeys } as const
  const { problems, tags } = normalize(new Map(Object.entries(labels)), { form })
  return { tags: Object.fromEntries(tags), told: problems.map(({ kind, label, tag }) => [kind, label, tag]) }
}

describe('tags in memory', () => {
  it('are the labels as they are, whatever real clouds forbid', () => {
    const labels = { 'app.kubernetes.io/name': 'web', 'a<b>': 'Dev/Test', Name: 'x', ['k'.repeat(317)]: '' }

    expect(tagsOf(labels)).to.deep.equal({ tags: labels, told: [] })
  })

  it('E9: leave the keys of the cluster alone', () => {
    expect(tagsOf({ 'kubernetes.io/x': '1', KubernetesCluster: '2', team: 'core' })).to.deep.equal({
      tags: { team: 'core' },
      told: [
        ['protected-key', 'KubernetesCluster', undefined],
        ['protected-key', 'kubernetes.io/x', undefined],
      ],
    })
  })

  it('C12: hold a protected key that is allowed', () => {
    const labels = { KubernetesCluster: 'mine' }

    expect(tagsOf(labels, new Set(['KubernetesCluster']))).to.deep.equal({ tags: labels, told: [] })
  })

  for (const [when, key, value, told] of [
    ['a value is cut', 'note', '🦁'.repeat(300), ['changed-value', 'note', 'note']],
    ['a key is left out that is too long', 'k'.repeat(513), 'x', ['invalid-key', 'k'.repeat(513), undefined]],
    ['an empty key is left out', '', 'x', ['invalid-key', '', undefined]],
  ] as const) {
    it(`say so where ${when}`, () => {
      expect(tagsOf({ [key]: value }).told).to.deep.equal([told])
    })
  }
})
