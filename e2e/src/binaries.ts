import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { withLock } from './build-lock.ts'
import { cacheRoot } from './cache.ts'
import { ManagedProcess } from './managed-process.ts'

/** A real control plane, built from the Go modules that `e2e/tools` pins; no image and no release archive is fetched. */
export type BinaryName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubectl'

export type Binaries = Readonly<Record<BinaryName, string>>

interface BinarySource {
  readonly module: GoModule
  readonly package: string
}

export type GoModule = 'etcd' | 'kubernetes'

export const goModules: readonly GoModule[] = ['etcd', 'kubernetes']

const sources: Readonly<Record<BinaryName, BinarySource>> = {
  etcd: { module: 'etcd', package: 'go.etcd.io/etcd/server/v3' },
  'kube-apiserver': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  'kube-controller-manager': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-controller-manager' },
  kubectl: { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kubectl' },
}

const toolsFolder = path.join(import.meta.dirname, '..', 'tools')

// A change of the flags below must not find binaries that were built with the old ones.
const recipe = 'v1: CGO_ENABLED=0 -trimpath -buildvcs=false -s -w'

export function goModFile(module: GoModule): string {
  return path.join(toolsFolder, module, 'go.mod')
}

/**
 * Resolves to the paths of the programs, building those that are not in the cache; cold on two cores about seven
 * minutes, afterwards some milliseconds. Safe to call from several processes at once: one builds, the others wait.
 */
export async function ensureBinaries(report: (line: string) => void = () => {}): Promise<Binaries> {
  const folder = path.join(cacheRoot(), await recipeHash())
  const names = Object.keys(sources) as BinaryName[]
  const isMissing = (name: BinaryName) => !existsSync(path.join(folder, name))

  if (names.some(isMissing)) {
    await mkdir(folder, { recursive: true })
    const build = async () => {
      await removeLeftovers(folder)
      for (const name of names.filter(isMissing)) await buildOne(name, folder, report)
    }
    await withLock(folder, build, () => report(`waiting for another build into ${folder}`))
  }
  return Object.fromEntries(names.map((name) => [name, path.join(folder, name)])) as Record<BinaryName, string>
}

async function recipeHash(): Promise<string> {
  const hash = createHash('sha256').update(recipe).update(process.arch)
  for (const module of goModules) {
    hash.update(await readFile(goModFile(module))).update(await readFile(goModFile(module).replace(/mod$/u, 'sum')))
  }
  return hash.digest('hex').slice(0, 16)
}

const buildPrefix = '.building-'

/** What an interrupted build left; only called under the lock, so that no living build is touched. */
async function removeLeftovers(folder: string): Promise<void> {
  const entries = await readdir(folder)
  const leftovers = entries.filter((entry) => entry.startsWith(buildPrefix))
  await Promise.all(leftovers.map((entry) => rm(path.join(folder, entry), { recursive: true, force: true })))
}

async function buildOne(name: BinaryName, folder: string, report: (line: string) => void): Promise<void> {
  const source = sources[name]
  const startMs = performance.now()
  report(`building ${name} ...`)
  const scratch = await mkdtemp(path.join(folder, buildPrefix))
  const output = path.join(scratch, name)
  const linkerFlags = ['-s', '-w', ...(source.module === 'kubernetes' ? await versionFlags() : [])].join(' ')
  const build = await ManagedProcess.start({
    name: `go build ${name}`,
    command: 'go',
    args: ['build', '-trimpath', '-buildvcs=false', '-ldflags', linkerFlags, '-o', output, source.package],
    cwd: path.join(toolsFolder, source.module),
    env: { CGO_ENABLED: '0' },
    logFile: path.join(scratch, 'build.log'),
  })
  const exit = await build.exited
  if (exit.code !== 0) throw new Error(build.describe())
  // Whoever sees the final name sees a whole file.
  await rename(output, path.join(folder, name))
  await rm(scratch, { recursive: true })
  report(`built ${name} in ${((performance.now() - startMs) / 1000).toFixed(0)} s`)
}

/** Clients look at the server's version, which a build outside of Kubernetes' own scripts does not know by itself. */
async function versionFlags(): Promise<readonly string[]> {
  const goMod = await readFile(goModFile('kubernetes'), 'utf8')
  const version = /^require k8s\.io\/kubernetes v(?<version>\d+\.\d+\.\d+)$/mu.exec(goMod)?.groups?.['version']
  if (version === undefined) throw new Error(`${goModFile('kubernetes')} requires no k8s.io/kubernetes`)
  const [major, minor] = version.split('.')
  const values = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' }
  return Object.entries(values).map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`)
}
