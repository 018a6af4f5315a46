/**
 * `make release VERSION=x.y.z`: wants what changes in CHANGELOG.md, sets the version everywhere, and says what to commit.
 * On main the release workflow runs the same again: then nothing is left to set, and it builds and publishes.
 *
 * DRY_RUN=1 does both, and everything but push.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { changesOf } from './release/changelog.ts'
import { publish } from './release/publish.ts'
import { setVersion } from './release/version-sites.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..')
const report = (line: string) => console.log(line)

try {
  await release(process.argv[2] ?? '')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function release(version: string): Promise<void> {
  if (!/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/u.test(version)) {
    throw new Error(`VERSION=${version} is no version: make release VERSION=x.y.z`)
  }
  const notes = changesOf(await readFile(path.join(root, 'CHANGELOG.md'), 'utf8'), version)
  const changed = await setVersion(root, version)
  for (const file of changed) report(`set ${version} in ${file}`)

  const isDry = process.env['DRY_RUN'] === '1'
  const isWorkflow = process.env['GITHUB_ACTIONS'] === 'true'
  if (!isDry && !isWorkflow) {
    report(`Commit this and merge it to main: the release workflow there publishes ${version}.`)
    return
  }
  if (!isDry && changed.length > 0)
    throw new Error(`${changed.join(', ')} did not say ${version}: nothing is published`)
  for (const tool of ['tools/bundle.ts', 'tools/image.ts']) {
    const { stdout } = await run(process.execPath, [tool], { cwd: root })
    report(stdout.trim())
  }
  await publish({ root, version, notes, isDry, report })
}
