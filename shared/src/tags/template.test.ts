import { expect } from 'chai'
import { parseTemplate, renderTemplate, renderedLengthMax } from './template.ts'
import type { Rendered, TemplateFields } from './template.ts'

const fields: TemplateFields = {
  Name: 'data-0',
  Namespace: 'shop',
  Cluster: 'prod-1',
  StorageClass: 'gp3',
  VolumeName: undefined,
  Labels: { team: 'core', 'app.kubernetes.io/name': 'db', html: '<a href="x">&' },
  Annotations: { note: 'hello' },
  NamespaceLabels: { 'cost-center': '4711' },
}

function render(text: string): Rendered | string {
  const parsed = parseTemplate(text)
  return parsed.ok ? renderTemplate(parsed.template, fields) : parsed.problem
}

describe('templates', () => {
  for (const [text, value] of [
    ['plain', 'plain'],
    ['', ''],
    ['{{ .Namespace }}', 'shop'],
    ['{{.Namespace}}', 'shop'],
    ['{{ .Cluster }}/{{ .Namespace }}/{{ .Name }}', 'prod-1/shop/data-0'],
    ['{{ .StorageClass }}', 'gp3'],
    ['{{ .Labels.team }}', 'core'],
    ['{{ index .Labels "app.kubernetes.io/name" }}', 'db'],
    ['{{ .Annotations.note }}', 'hello'],
    ['{{ index .NamespaceLabels "cost-center" }}', '4711'],
    ['{{ .Labels.html }}', '<a href="x">&'],
    ['}} stays', '}} stays'],
  ] as const) {
    it(`${JSON.stringify(text)} gives ${JSON.stringify(value)}`, () => {
      expect(render(text)).to.deep.equal({ ok: true, value })
    })
  }

  for (const [text, missing] of [
    ['{{ .VolumeName }}', '.VolumeName'],
    ['x-{{ .Labels.nobody }}', '.Labels "nobody"'],
    ['{{ index .Labels "toString" }}', '.Labels "toString"'],
  ] as const) {
    it(`${JSON.stringify(text)} names what the claim lacks`, () => {
      expect(render(text)).to.deep.equal({ ok: false, missing })
    })
  }

  for (const text of [
    '{{ .Namespace',
    '{{ }}',
    '{{ .Nobody }}',
    '{{ .Labels }}',
    '{{ printf "%s" .Name }}',
    '{{ if .Name }}x{{ end }}',
    '{{ index .Labels }}',
    '{{ .Labels.a-b }}',
    '{{ .constructor }}',
  ]) {
    it(`${JSON.stringify(text)} is refused, and what is allowed is said`, () => {
      expect(render(text)).to.include('{{ .Labels.team }}')
    })
  }

  it('never give more than 1 KiB', () => {
    const parsed = parseTemplate('{{ .Labels.long }}')
    const long = { ...fields, Labels: { long: 'x'.repeat(renderedLengthMax + 1) } }

    expect(parsed.ok && renderTemplate(parsed.template, long)).to.include({ ok: false, length: 1025 })
  })
})
