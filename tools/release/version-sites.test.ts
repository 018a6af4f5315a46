import { globSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import packageJson from '../../package.json' with { type: 'json' }
import addresses from './addresses.json' with { type: 'json' }
import { setVersion, versionSites } from './version-sites.ts'

const root = path.join(import.meta.dirname, '..', '..')

describe('the version', () => {
  let copy: string

  beforeEach('copies what carries it', async () => {
    copy = await mkdtemp(path.join(tmpdir(), 'versions-'))
    const files = ['package.json', 'package-lock.json', 'README.md', 'docs', 'charts', 'examples']
    for (const file of files) await cp(path.join(root, file), path.join(copy, file), { recursive: true })
    for (const folder of packageJson.workspaces) {
      await mkdir(path.join(copy, folder))
      await cp(path.join(root, folder, 'package.json'), path.join(copy, folder, 'package.json'))
    }
  })

  afterEach('removes them', async () => {
    await rm(copy, { recursive: true })
  })

  it('is the same in every file of the repository', async () => {
    const sites = await versionSites(root)

    expect(sites.filter(({ version }) => version !== packageJson.version)).to.deep.equal([])
    expect(sites.map(({ file }) => file)).to.include.members([
      'package.json',
      'webhook/package.json',
      'package-lock.json',
      'charts/k8s-cloud-tagger/Chart.yaml',
    ])
  })

  it('is set everywhere at once, and nothing else is touched', async () => {
    const before = await readFile(path.join(copy, 'package-lock.json'), 'utf8')

    await setVersion(copy, '98.7.6-rc.5')

    expect(new Set((await versionSites(copy)).map(({ version }) => version))).to.deep.equal(new Set(['98.7.6-rc.5']))
    await setVersion(copy, packageJson.version)
    expect(await readFile(path.join(copy, 'package-lock.json'), 'utf8')).to.equal(before)
  })

  it('changes no file that says it already', async () => {
    expect(await setVersion(copy, packageJson.version)).to.deep.equal([])
  })

  const inTexts = [
    [`the image's tag`, (version: string) => `    image: ${addresses.image}:${version}\n`],
    ['a label of a render', (version: string) => `    app.kubernetes.io/version: '${version}'\n`],
    ['the chart label of a render', (version: string) => `    helm.sh/chart: k8s-cloud-tagger-${version}\n`],
    [
      'an install command',
      (version: string) => `helm install tagger ${addresses.chart} \\\n  --version ${version} -n x\n`,
    ],
    [
      `an Argo CD application's source`,
      (version: string) => `repoURL: ${addresses.chart.slice('oci://'.length)}\npath: .\ntargetRevision: ${version}\n`,
    ],
  ] as const
  for (const [what, text] of inTexts) {
    it(`is found and set in ${what}`, async () => {
      const file = path.join(copy, 'docs', 'example.md')
      await writeFile(file, text('1.2.3'))

      expect(await versionSites(copy)).to.deep.include({ file: 'docs/example.md', version: '1.2.3' })

      await setVersion(copy, '4.5.6')
      expect(await readFile(file, 'utf8')).to.equal(text('4.5.6'))
    })
  }

  it('leaves the versions of others alone', async () => {
    const file = path.join(copy, 'docs', 'example.md')
    const text = `helm install cert-manager oci://quay.io/jetstack/charts/cert-manager --version 1.21.2\n`
    await writeFile(file, text)

    await setVersion(copy, '4.5.6')

    expect(await readFile(file, 'utf8')).to.equal(text)
  })
})

describe('the addresses', () => {
  it('are what the chart pulls by default', async () => {
    const values = await readFile(path.join(root, 'charts/k8s-cloud-tagger/values.yaml'), 'utf8')

    expect(values).to.include(`repository: ${addresses.image}\n`)
  })

  it('are the only ones at our registry that docs, charts and examples name', async () => {
    const registry = addresses.image.slice(0, addresses.image.indexOf('/'))
    const ours = new Set([addresses.image, addresses.chart.replace(/^oci:\/\//u, '')])
    const files = globSync(['README.md', '{docs,charts,examples}/**/*.{md,yaml}'], { cwd: root })
    const texts = await Promise.all(files.map((file) => readFile(path.join(root, file), 'utf8')))

    const named = texts.flatMap((text) => text.match(new RegExp(`\\b${registry}/[\\w./-]*\\w`, 'gu')) ?? [])

    expect(named).not.to.deep.equal([])
    expect(named.filter((address) => !ours.has(address))).to.deep.equal([])
  })
})
