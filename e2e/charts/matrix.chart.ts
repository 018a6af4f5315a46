import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { objectsOf, type RenderedObject } from './helm.ts'
import { faultsOf } from './kubeconform.ts'
import { chartTools, type ChartTools } from './tools.ts'

const folder = path.join(import.meta.dirname, 'values')
const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'))

describe('for each set of values', () => {
  let tools: ChartTools
  before('has the tools', async () => {
    tools = await chartTools()
  })

  it('there are at least forty', () => {
    expect(files.length).to.be.at.least(40)
  })

  for (const file of files) {
    it(`renders one and the same valid thing: ${subjectOf(file)}`, async () => {
      const values = [path.join(folder, file)]

      const first = await tools.helm4.render({ values })
      const second = await tools.helm4.render({ values })
      const byHelm3 = await tools.helm3.render({ values })
      const byHelm3Again = await tools.helm3.render({ values })

      expect(second, 'the second render').to.equal(first)
      expect(byHelm3Again, "Helm 3's second render").to.equal(byHelm3)
      // Blank lines, and the order of objects of one kind, are not the same.
      expect(sortedObjects(byHelm3), "Helm 3's objects").to.deep.equal(sortedObjects(first))
      const rendered = path.join(tools.scratch, file)
      await writeFile(rendered, first)
      expect(await faultsOf(tools.binaries.kubeconform, { ...tools, files: [rendered] })).to.deep.equal([])
      await tools.helm4.lint({ values })
      await tools.helm3.lint({ values })
    })
  }

  it('a field that Kubernetes does not know is refused, and so is a kind without a schema', async () => {
    const object = (kind: string, field: string) => `apiVersion: v1\nkind: ${kind}\nmetadata: {name: x}\n${field}: {}\n`
    const rendered = path.join(tools.scratch, 'unknown-field.yaml')
    await writeFile(rendered, [object('ConfigMap', 'dta'), object('Thing', 'data')].join('---\n'))

    const faults = await faultsOf(tools.binaries.kubeconform, { ...tools, files: [rendered] })

    expect(faults).to.have.length(2)
    expect(faults.join('\n'))
      .to.match(/ConfigMap.*'dta'/u)
      .and.to.match(/Thing.*could not find schema/u)
  })
})

function sortedObjects(rendered: string): readonly RenderedObject[] {
  const nameOf = ({ kind, metadata: { namespace = '', name } }: RenderedObject) => `${kind} ${namespace}/${name}`
  return objectsOf(rendered).toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
}

/** The first line of each file says what it is about. */
function subjectOf(file: string): string {
  const [comment = ''] = readFileSync(path.join(folder, file), 'utf8').split('\n')
  return `${file.replace(/\.yaml$/u, '')} (${comment.replace(/^# |\.$/gu, '')})`
}
