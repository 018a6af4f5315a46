import { expect } from 'chai'
import { compileDefaultLabels, isLabelValue } from './default-labels.ts'

function problemsOf(texts: Readonly<Record<string, string>>): readonly string[] {
  const compiled = compileDefaultLabels(texts)
  return compiled.ok ? [] : compiled.problems
}

describe('compileDefaultLabels', () => {
  it('takes fixed values and templates, by their labels', () => {
    const compiled = compileDefaultLabels({ team: 'core', 'example.com/env': '{{ .NamespaceLabels.env }}', note: '' })

    expect(compiled.ok && [...compiled.labels.keys()]).to.deep.equal(['team', 'example.com/env', 'note'])
  })

  for (const key of ['', '-team', 'team_', 'a/b/c', '/team', 'Example.com/team', 'x'.repeat(64), 'a b']) {
    it(`refuses ${JSON.stringify(key)} as a label`, () => {
      expect(problemsOf({ [key]: 'x' })).to.deep.equal([
        `admission.defaultLabels.${key}: is no label that Kubernetes takes`,
      ])
    })
  }

  it('names every value and template that cannot be, with its place', () => {
    expect(problemsOf({ a: 'no spaces', b: '{{ .Nothing }}', c: 'fine' })).to.have.length(2)
    expect(problemsOf({ a: 'no spaces' })[0]).to.match(/^admission\.defaultLabels\.a: "no spaces", must be empty, or/)
    expect(problemsOf({ b: '{{ .Nothing }}' })[0]).to.match(/^admission\.defaultLabels\.b: .*is not known/)
  })
})

describe('isLabelValue', () => {
  for (const [value, legal] of [
    ['', true],
    ['v1.2_3-x', true],
    ['x'.repeat(63), true],
    ['x'.repeat(64), false],
    ['.x', false],
    ['x-', false],
    ['a/b', false],
    ['ä', false],
    ['x\n', false],
  ] as const) {
    it(`says ${legal ? 'yes' : 'no'} to ${JSON.stringify(value)}`, () => {
      expect(isLabelValue(value)).to.equal(legal)
    })
  }
})
