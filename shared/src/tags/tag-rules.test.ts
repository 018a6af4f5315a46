import { expect } from 'chai'
import { claim as aClaim } from '../../testing/builders.ts'
import { rulesOf } from '../../testing/tagging-rules.ts'
import { ConfigError } from '../config/load-config.ts'
import { lastAppliedAnnotation } from '../claims/annotations.ts'
import type { Claim } from '../claims/claim.ts'

function outOfScope(config: object, claim: Partial<Omit<Claim, 'key'>>, namespaceLabels: Record<string, string> = {}) {
  const namespace = { name: 'n', uid: 'n', resourceVersion: '1', labels: namespaceLabels, deleting: false }
  return rulesOf(config).outOfScope({ claim: aClaim(claim), namespace })
}

describe('the scope of the rules', () => {
  for (const [title, config, claim, namespaceLabels, want] of [
    ['takes everything by default', {}, {}, {}, undefined],
    [
      'leaves out a namespace',
      { scope: { namespaces: { exclude: ['dev-*'] } } },
      { namespace: 'dev-1' },
      {},
      'out-of-scope',
    ],
    [
      'takes only listed namespaces',
      { scope: { namespaces: { include: ['shop'] } } },
      { namespace: 'bank' },
      {},
      'out-of-scope',
    ],
    [
      'takes only listed storage classes',
      { scope: { storageClasses: { include: ['gp3'] } } },
      { storageClassName: 'io2' },
      {},
      'out-of-scope',
    ],
    [
      'B5: takes a claim without a storage class',
      { scope: { storageClasses: { exclude: ['io2'] } } },
      { storageClassName: undefined },
      {},
      undefined,
    ],
    [
      'selects claims by label',
      { scope: { claimSelector: 'tier=gold' } },
      { labels: { tier: 'silver' } },
      {},
      'out-of-scope',
    ],
    ['selects namespaces by label', { scope: { namespaceSelector: '!private' } }, {}, { private: '' }, 'out-of-scope'],
    [
      'does not heed the opt-out where it is off',
      {},
      { annotations: { 'k8s-cloud-tagger/ignore': '' } },
      {},
      undefined,
    ],
    [
      'heeds the opt-out of a claim',
      { tags: { optOut: true } },
      { annotations: { 'k8s-cloud-tagger/ignore': '' } },
      {},
      'opted-out',
    ],
    [
      'takes a claim that opts in again',
      { tags: { optOut: true } },
      { annotations: { 'k8s-cloud-tagger/ignore': 'false' } },
      {},
      undefined,
    ],
    [
      'heeds the opt-out of users of k8s-pvc-tagger',
      { tags: { optOut: true, annotationPrefixes: ['k8s-pvc-tagger'] } },
      { annotations: { 'k8s-pvc-tagger/ignore': 'true' } },
      {},
      'opted-out',
    ],
  ] as const) {
    it(title, () => {
      expect(outOfScope(config, claim, namespaceLabels)).to.equal(want)
    })
  }
})

describe('the rules know', () => {
  for (const [config, needed] of [
    [{}, false],
    [{ tags: { namespaceLabels: { include: ['team'] } } }, true],
    [{ tags: { enforced: { team: '{{ .NamespaceLabels.team }}' } } }, true],
    [{ tags: { defaults: { team: '{{ .Namespace }}' } } }, false],
    [{ scope: { namespaceSelector: 'a' } }, true],
  ] as const) {
    it(`whether the namespace's labels are needed: ${JSON.stringify(config)}`, () => {
      expect(rulesOf(config).needsNamespace).to.equal(needed)
    })
  }

  it('which annotations have to be kept', () => {
    const { readsAnnotation } = rulesOf({
      tags: { annotations: { include: ['cost/*'] }, optOut: true, defaults: { x: '{{ index .Annotations "a/b" }}' } },
    })
    const all = ['cost/center', 'a/b', 'k8s-cloud-tagger/tags', 'k8s-cloud-tagger/ignore', lastAppliedAnnotation]

    expect(all.filter(readsAnnotation)).to.deep.equal(['cost/center', 'a/b', 'k8s-cloud-tagger/ignore'])
  })

  it("that a template among a claim's own tags may name any annotation but kubectl's copy of the claim", () => {
    const { readsAnnotation } = rulesOf({ tags: { claimTags: true } })

    expect(['anything', lastAppliedAnnotation].filter(readsAnnotation)).to.deep.equal(['anything'])
  })
})

describe('a rule that cannot be', () => {
  for (const [config, problem] of [
    [
      { tags: { defaults: { team: '{{ .Nobody }}' } } },
      'tags.defaults.team: "{{ .Nobody }}", {{ .Nobody }} is not known',
    ],
    [{ tags: { enforced: { team: '{{ .Name' } } }, 'tags.enforced.team: "{{ .Name", {{ without }}'],
    [{ tags: { rename: { team: '' } } }, 'tags.rename.team: "", must be the new key'],
    [{ scope: { claimSelector: 'tier in gold' } }, 'scope.claimSelector: "tier in gold" is not key'],
    [{ tags: { defaults: { team: 4711 } } }, 'tags.defaults.team: 4711, must be text: write it in quotes'],
    [{ tags: { labels: { include: 'team' } } }, 'tags.labels.include: "team", must be array'],
  ] as const) {
    it(`is named: ${problem}`, () => {
      expect(() => rulesOf(config)).to.throw(ConfigError, problem)
    })
  }

  it('is an empty default tag too', () => {
    expect(() => rulesOf('tags: {defaults: {team: }}')).to.throw(ConfigError, 'tags.defaults.team: null, must be text')
  })
})
