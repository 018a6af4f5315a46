import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { parseManifest, readFolder } from './read-folder.ts'

describe('a manifest', () => {
  it('may hold several documents, empty ones among them', () => {
    const { objects, problems } = parseManifest('a.yaml', '---\nkind: A\n---\n---\nkind: B\n')

    expect(problems).to.deep.equal([])
    expect(objects.map(({ object }) => object)).to.deep.equal([{ kind: 'A' }, { kind: 'B' }])
  })

  it('may hold lists, whose items say where they stand', () => {
    const { objects } = parseManifest('a.json', '{"kind":"List","items":[{"kind":"A"},{"kind":"B"}]}')

    expect(objects.map(({ where }) => where)).to.deep.equal(['a.json, item 1', 'a.json, item 2'])
  })

  it('is named with the reason where it cannot be read, and its good documents are read all the same', () => {
    const { objects, problems } = parseManifest('a.yaml', 'a: b: c\n---\nkind: B\n')

    expect(objects).to.have.length(1)
    expect(problems).to.have.length(1)
    expect(problems[0]).to.match(/^a\.yaml, document 1: Nested mappings are not allowed.*line 1/u)
  })

  it('is named where it is no JSON', () => {
    expect(parseManifest('a.json', '{').problems[0]).to.match(/^a\.json: /u)
  })
})

describe('a folder of manifests', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'own-manifests-'))
  })

  afterEach(() => rm(folder, { recursive: true }))

  it('is read with the folders below it, without hidden files and files of other kinds', async () => {
    await mkdir(path.join(folder, 'below'))
    await writeFile(path.join(folder, 'b.yml'), 'kind: B')
    await writeFile(path.join(folder, 'below', 'a.yaml'), 'kind: A')
    await writeFile(path.join(folder, '.hidden.yaml'), 'kind: C')
    await writeFile(path.join(folder, 'README.md'), 'kind: D')

    const { objects } = await readFolder(folder)

    expect(objects.map(({ object }) => object)).to.deep.equal([{ kind: 'B' }, { kind: 'A' }])
  })

  it('is named where it is empty, not there or no folder', async () => {
    await mkdir(path.join(folder, 'empty'))
    await writeFile(path.join(folder, 'file.yaml'), '')
    const problems = async (name: string) => (await readFolder(path.join(folder, name))).problems.join('\n')

    expect(await problems('empty')).to.match(/empty: no \*\.yaml, \*\.yml or \*\.json in it$/u)
    expect(await problems('nowhere')).to.match(/nowhere: is not there$/u)
    expect(await problems('file.yaml')).to.match(/file\.yaml: is no folder$/u)
  })
})
