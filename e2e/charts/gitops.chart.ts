import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import addresses from '../../tools/release/addresses.json' with { type: 'json' }
import { objectsOf, type RenderedObject } from './helm.ts'
import { at, isIdentity, podAccounts, trustedAccounts, withStrangeField } from './identity.ts'
import { faultsOf } from './kubeconform.ts'
import { chartTools, type ChartTools } from './tools.ts'

const root = path.join(import.meta.dirname, '..', '..')
const examples = globSync('examples/gitops/**/*.yaml', { cwd: root }).sort()

/** What Argo CD and Flux fill in, by the expression that asks for it. */
const filled: readonly (readonly [RegExp, string])[] = [
  [/\{\{ \.name \}\}/gu, 'prod-eu-1'],
  [/\{\{ index \.metadata\.annotations "k8s-cloud-tagger\/region" \}\}/gu, 'eu-west-1'],
  [/\{\{ index \.metadata\.annotations "k8s-cloud-tagger\/account" \}\}/gu, '123456789012'],
  [/\{\{ index \.metadata\.annotations "k8s-cloud-tagger\/issuer" \}\}/gu, 'https://issuer.example.com/id/EXAMPLE'],
  [/\$\{cluster_name\}/gu, 'prod-eu-1'],
  [/\$\{gcp_project\}/gu, 'my-project-1'],
  [/\$\{gcp_project_number\}/gu, '123456789012'],
]

describe('the examples for GitOps', () => {
  let tools: ChartTools
  before('has the tools', async () => {
    tools = await chartTools()
  })

  const objectsOfExample = (file: string) => {
    const text = filled.reduce(
      (done, [what, value]) => done.replaceAll(what, value),
      readFileSync(path.join(root, file), 'utf8'),
    )
    return objectsOf(text)
  }

  it('are there for Argo CD and for Flux', () => {
    expect(examples.filter((file) => file.includes('/argocd/'))).to.have.length.at.least(2)
    expect(examples.filter((file) => file.includes('/flux/'))).to.have.length.at.least(2)
  })

  for (const file of examples) {
    it(`hold only fields that are known: ${path.relative('examples/gitops', file)}`, async () => {
      const target = path.join(root, file)

      expect(await faultsOf(tools.binaries.kubeconform, { ...tools, files: [target] })).to.deep.equal([])
    })
  }

  it('are checked by schemas that refuse a field they do not know', async () => {
    const objects = new Map(examples.flatMap(objectsOfExample).map((object) => [object.kind, object]))
    objects.delete('ConfigMap')
    const file = path.join(tools.scratch, 'strange-examples.yaml')
    const strange = [...objects.values()].map(withStrangeField)
    await writeFile(file, strange.map((object) => stringify(object)).join('---\n'))

    const faults = await faultsOf(tools.binaries.kubeconform, { ...tools, files: [file] })

    expect(faults).to.have.length(6)
    for (const fault of faults) expect(fault).to.include('surprise')
  })

  for (const file of examples.filter((one) => valuesIn(objectsOfExample(one)).length > 0)) {
    it(`give values that the chart takes, from the place where the chart is: ${path.relative('examples/gitops', file)}`, async () => {
      for (const values of valuesIn(objectsOfExample(file))) {
        const given = path.join(tools.scratch, 'example-values.yaml')
        await writeFile(given, stringify(values))

        for (const helm of [tools.helm4, tools.helm3]) {
          const objects = objectsOf(await helm.render({ release: 'k8s-cloud-tagger', values: [given] }))
          expect(objects.filter(isIdentity)).to.have.length.above(0)
          expect(trustedAccounts(objects)).to.deep.equal(podAccounts(objects))
        }
      }
      expect(readFileSync(path.join(root, file), 'utf8')).to.include(addresses.chart)
    })
  }

  it('put identity, certificates, programs and registration into waves, in this order', async () => {
    const [values] = valuesIn(objectsOfExample('examples/gitops/argocd/helm.yaml'))
    const given = path.join(tools.scratch, 'wave-values.yaml')
    await writeFile(given, stringify(values))

    const objects = objectsOf(await tools.helm4.render({ values: [given] }))

    const waveOf = (object: RenderedObject) =>
      Number(object.metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0)
    const waves = (of: (object: RenderedObject) => boolean) => [...new Set(objects.filter(of).map(waveOf))]
    expect(waves(isIdentity)).to.deep.equal([-3])
    expect(waves(({ kind }) => kind === 'Certificate' || kind === 'Issuer')).to.deep.equal([-2])
    expect(waves(({ kind }) => kind === 'Deployment')).to.deep.equal([0])
    expect(waves(({ kind }) => kind === 'ValidatingWebhookConfiguration')).to.deep.equal([1])
  })

  it('lead to folders of this repository', () => {
    const text = examples.map((file) => readFileSync(path.join(root, file), 'utf8')).join('\n')
    const folders = [...text.matchAll(/path: (?:\.\/)?((?:charts|examples)\/[\w/-]+)/gu)].map(
      ([, folder = '']) => folder,
    )

    expect(folders).to.have.length.at.least(3)
    for (const folder of folders)
      expect(globSync(`${folder.replace(/\/$/u, '')}/*`, { cwd: root }), folder).to.have.length.above(0)
  })
})

/** Helm values that these objects hold, wherever each of them holds them. */
function valuesIn(objects: readonly RenderedObject[]): readonly object[] {
  return objects
    .flatMap(({ spec }) => [
      at(spec, 'values'),
      at(spec, 'source', 'helm', 'valuesObject'),
      at(spec, 'template', 'spec', 'source', 'helm', 'valuesObject'),
    ])
    .filter((values) => typeof values === 'object' && values !== null)
}
