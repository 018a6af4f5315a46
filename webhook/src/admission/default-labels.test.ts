import { expect } from 'chai'
import fc from 'fast-check'
import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import { parseConfig } from '@k8s-cloud-tagger/shared/config/load-config.ts'
import { rulesFor } from '@k8s-cloud-tagger/shared/config/rules-for.ts'
import { freeValue, labelKey } from '@k8s-cloud-tagger/shared/testing/label-arbitraries.ts'
import { admissionReview } from '@k8s-cloud-tagger/shared/testing/programs/review.ts'
import type { ReviewedObject } from '@k8s-cloud-tagger/shared/testing/programs/review.ts'
import { defaultLabelsFor } from '../admission-policy.ts'
import type { PatchOperation } from './json-patch.ts'
import { decodeReview } from './review.ts'

interface Case {
  readonly defaults: Readonly<Record<string, string>>
  readonly config?: object
  readonly object?: ReviewedObject
  readonly namespace?: Readonly<Record<string, string>>
}

function answered({ defaults, config = {}, object = {}, namespace }: Case) {
  const parsed = parseConfig(JSON.stringify({ ...config, admission: { defaultLabels: defaults } }))
  const decoded = decodeReview(JSON.stringify(admissionReview({ operation: 'CREATE', object })))
  if (decoded.kind === 'malformed' || decoded.request.object === undefined) throw new Error('no claim')
  const info: NamespaceInfo | undefined = namespace && {
    name: 'db',
    uid: 'namespace-uid',
    resourceVersion: '1',
    labels: namespace,
    deleting: false,
  }
  const { answer, outcome } = defaultLabelsFor(parsed, rulesFor(parsed)).answerFor(decoded.request.object, info)
  return { patch: answer.patch ?? [], warnings: answer.warnings ?? [], allowed: answer.allowed, outcome }
}

/** RFC 6902, as far as our patches go; fails where the API server would. */
function patched(object: ReviewedObject, patch: readonly PatchOperation[]): ReviewedObject {
  let { labels } = object
  for (const { path, value } of patch) {
    const [, metadata, map, key, ...deeper] = path
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    expect([metadata, map, deeper]).to.deep.equal(['metadata', 'labels', []])
    if (key === undefined) labels = value as Readonly<Record<string, string>>
    else {
      if (labels === undefined) throw new Error('there is no map to add to')
      labels = { ...labels, [key]: value as string }
    }
  }
  return { ...object, ...(labels !== undefined && { labels }) }
}

const team = { team: 'core' }

describe('DefaultLabels', () => {
  it('brings the map where there is none', () => {
    expect(answered({ defaults: team }).patch).to.deep.equal([
      { op: 'add', path: '/metadata/labels', value: { team: 'core' } },
    ])
  })

  it('adds to the map where there is one, an empty one included', () => {
    const operation = { op: 'add', path: '/metadata/labels/team', value: 'core' }

    expect(answered({ defaults: team, object: { labels: { app: 'x' } } }).patch).to.deep.equal([operation])
    expect(answered({ defaults: team, object: { labels: {} } }).patch).to.deep.equal([operation])
  })

  it('escapes a slash in a key', () => {
    expect(answered({ defaults: { 'example.com/team': 'core' }, object: { labels: {} } }).patch).to.deep.equal([
      { op: 'add', path: '/metadata/labels/example.com~1team', value: 'core' },
    ])
  })

  it('takes values from the namespace, and from the claim itself', () => {
    const defaults = { team: '{{ .NamespaceLabels.team }}', source: '{{ .Namespace }}.{{ .Name }}' }

    expect(answered({ defaults, namespace: { team: 'core' } }).patch).to.deep.equal([
      { op: 'add', path: '/metadata/labels', value: { team: 'core', source: 'db.data-0' } },
    ])
  })

  it('takes a default from another one, in whatever order they stand', () => {
    const defaults = { cost: '{{ .Labels.unit }}-1', unit: '{{ .Labels.team }}', team: 'core' }

    expect(answered({ defaults }).patch).to.deep.equal([
      { op: 'add', path: '/metadata/labels', value: { team: 'core', unit: 'core', cost: 'core-1' } },
    ])
  })

  for (const [what, input, outcome] of [
    ['the claim has it, with whatever value', { defaults: team, object: { labels: { team: 'mine' } } }, 'complete'],
    ['the claim has it without a value', { defaults: team, object: { labels: { team: '' } } }, 'complete'],
    ['there are no defaults', { defaults: {} }, 'complete'],
    [
      'the namespace has no such label',
      { defaults: { team: '{{ .NamespaceLabels.team }}' }, namespace: {} },
      'complete',
    ],
    ['nobody knows the namespace in time', { defaults: { team: '{{ .NamespaceLabels.team }}' } }, 'complete'],
    [
      'the name is still to be made',
      { defaults: { x: '{{ .Name }}' }, object: { name: '', generateName: 'x-' } },
      'complete',
    ],
    ['the claim has no volume yet', { defaults: { x: '{{ .VolumeName }}' } }, 'complete'],
    ['it only reports', { defaults: team, config: { reportOnly: true } }, 'complete'],
    [
      'the claim is being deleted',
      { defaults: team, object: { deletionTimestamp: '2026-11-30T00:00:00Z' } },
      'deleting',
    ],
    [
      'the claim is out of scope',
      { defaults: team, config: { scope: { namespaces: { exclude: ['db'] } } } },
      'out-of-scope',
    ],
    [
      'the namespace decides on the scope and is not known',
      { defaults: team, config: { scope: { namespaceSelector: '!legacy' } } },
      'out-of-scope',
    ],
    [
      'the claim opted out',
      {
        defaults: team,
        config: { tags: { optOut: true } },
        object: { annotations: { 'k8s-cloud-tagger/ignore': '' } },
      },
      'out-of-scope',
    ],
  ] as const satisfies readonly (readonly [string, Case, string])[]) {
    it(`gives no patch where ${what}`, () => {
      expect(answered(input)).to.deep.equal({ patch: [], warnings: [], allowed: true, outcome })
    })
  }

  it('gives what does not depend on the namespace, where that is not known in time', () => {
    const defaults = { ...team, unit: '{{ .NamespaceLabels.unit }}' }

    expect(answered({ defaults, object: { labels: {} } }).patch).to.deep.equal([
      { op: 'add', path: '/metadata/labels/team', value: 'core' },
    ])
  })

  it('warns of a value that is no legal one, and adds the rest', () => {
    const defaults = { note: '{{ .Annotations.note }}', ...team }
    const { patch, warnings } = answered({ defaults, object: { annotations: { note: 'no spaces' }, labels: {} } })

    expect(patch).to.have.length(1)
    expect(warnings).to.deep.equal([
      'disk tags: label note gets no default: its value here would be no legal label value',
    ])
  })

  it('applied once, changes nothing when asked again, and changes no label that was there', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/)
    const value = fc.oneof(fc.constant(''), name)
    const template = fc.oneof(
      value,
      labelKey.map((key) => `{{ index .Labels "${key}" }}`),
      fc.constantFrom('{{ .NamespaceLabels.team }}', '{{ .Annotations.note }}', '{{ .Labels.a }}', '{{ .Labels.b }}.x'),
    )
    const key = fc.oneof(
      name,
      name.map((each) => `example.com/${each}`),
      fc.constantFrom('a', 'b', 'c'),
    )
    const claim = fc.record(
      {
        labels: fc.dictionary(key, value, { maxKeys: 5 }),
        annotations: fc.record({ note: freeValue }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.dictionary(key, template, { maxKeys: 8 }), claim, freeValue, (defaults, object, fromNamespace) => {
        const input = { defaults, object, namespace: { team: fromNamespace } }

        const after = patched(object, answered(input).patch)

        expect(answered({ ...input, object: after }).patch).to.deep.equal([])
        expect(after.labels ?? {}).to.include(object.labels ?? {})
      }),
    )
  })
})
