import { existsSync } from 'node:fs'
import { appendFile, cp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { ensureBinaries } from '../binaries.ts'
import { runCommand } from '../commands.ts'
import { scenarioFolder } from '../scenario-folder.ts'

const root = path.join(import.meta.dirname, '..', '..', '..')
const version = '98.7.6'

/** On a copy: what `make release` does before anything is pushed. */
describe('a release, tried without pushing', () => {
  let copy: string
  let helm: string

  before('copies the project', async () => {
    helm = (await ensureBinaries(['helm4'], console.log)).helm4
    copy = path.join(scenarioFolder('release'), 'project')
    await mkdir(copy)
    const left = new Set(['.git', 'node_modules', 'dist'])
    const entries = (await readdir(root)).filter((entry) => !left.has(entry))
    const isOurs = (source: string) => path.basename(source) !== 'node_modules'
    for (const entry of entries)
      await cp(path.join(root, entry), path.join(copy, entry), { recursive: true, filter: isOurs })
    await linkPackages(copy)
  })

  const release = (wanted: string) =>
    runCommand(process.execPath, ['tools/release.ts', wanted], {
      cwd: copy,
      env: { DRY_RUN: '1', HELM: helm, SOURCE_DATE_EPOCH: '1', GITHUB_ACTIONS: undefined, GITHUB_OUTPUT: undefined },
      accepted: [0, 1],
    })

  it('is refused while the changelog does not mention it', async () => {
    const { code, stderr } = await release(version)

    expect(code).to.equal(1)
    expect(stderr).to.include(`CHANGELOG.md has no heading "## ${version}"`)
  })

  it('sets the version everywhere and builds all that would be pushed', async () => {
    await appendFile(path.join(copy, 'CHANGELOG.md'), `\n## ${version}\n\nTried.\n`)

    const { code, stderr, stdout } = await release(version)

    expect(code, stderr).to.equal(0)
    expect(stdout).to.include(`set ${version} in charts/k8s-cloud-tagger/Chart.yaml`)
    expect(stdout).to.include(`k8s-cloud-tagger --version: ${version}`)
    for (const program of ['skopeo', 'cosign', 'gh']) expect(stdout).to.include(`would run: ${program} `)
    const made = [
      'release/notes.md',
      `release/k8s-cloud-tagger-${version}.tgz`,
      'image/index.json',
      'sbom-arm64.spdx.json',
    ]
    expect(made.filter((file) => !existsSync(path.join(copy, 'dist', file)))).to.deep.equal([])
    expect(await readFile(path.join(copy, 'dist/release/notes.md'), 'utf8')).to.equal('Tried.\n')
  })

  it('builds the same again', async () => {
    const index = path.join(copy, 'dist/image/index.json')
    const before = await readFile(index, 'utf8')

    await release(version)

    expect(await readFile(index, 'utf8')).to.equal(before)
  })

  it('is stopped by the unit tests where one file says another version', async () => {
    const test = () => {
      const spec = ['--spec', 'tools/release/version-sites.test.ts', '--fgrep', 'same in every file']
      const args = ['node_modules/.bin/mocha', '--no-config', ...spec]
      return runCommand(process.execPath, args, { cwd: copy, accepted: [0, 1] })
    }
    const file = path.join(copy, 'charts/k8s-cloud-tagger/Chart.yaml')
    const chart = await readFile(file, 'utf8')
    const whole = await test()

    await writeFile(file, chart.replace(`appVersion: ${version}`, 'appVersion: 98.7.5'))
    const differing = await test()

    expect([whole.code, differing.code], whole.stdout).to.deep.equal([0, 1])
    expect(differing.stdout).to.include('is the same in every file of the repository')
  })
})

/**
 * Installed packages as hard links, so that the bundler finds them where package-lock.json says; links to the project's
 * own packages are relative, and so lead into the copy.
 */
async function linkPackages(copy: string): Promise<void> {
  const [from, to] = [`${path.join(root, 'node_modules')}/.`, path.join(copy, 'node_modules')]
  await mkdir(to)
  const linked = await runCommand('cp', ['--archive', '--link', from, to], { accepted: [0, 1] })
  // Not between two file systems.
  if (linked.code !== 0) await runCommand('cp', ['--archive', from, to])
}
