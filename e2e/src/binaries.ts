import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { withLock } from './build-lock.ts'
import { cacheRoot } from './cache.ts'
import { ManagedProcess } from './managed-process.ts'

/** Everything that a test of a real cluster runs, built from the Go modules that `e2e/tools` pins; nothing ready-made is fetched. */
export type BinaryName = ControlPlaneBinary | NodeBinary | CheckBinary

type ControlPlaneBinary = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubectl'

type NodeBinary =
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy'
  | 'pause'
  | 'fakecsi'
  | 'cert-manager-controller'
  | 'cert-manager-cainjector'
  | 'helm3'
  | 'helm4'
  | 'kustomize'

type CheckBinary = 'kubeconform' | 'promtool'

export type Binaries<Name extends BinaryName = BinaryName> = Readonly<Record<Name, string>>

interface BinarySource {
  /** A folder of `e2e/tools` with its own go.mod. */
  readonly module: string
  readonly package: string
}

const sources: Readonly<Record<BinaryName, BinarySource>> = {
  etcd: { module: 'etcd', package: 'go.etcd.io/etcd/server/v3' },
  'kube-apiserver': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  'kube-controller-manager': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-controller-manager' },
  kubectl: { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kubectl' },
  'kube-scheduler': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-scheduler' },
  kubelet: { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kubelet' },
  'kube-proxy': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-proxy' },
  pause: { module: 'pause', package: '.' },
  fakecsi: { module: 'fakecsi', package: '.' },
  'cert-manager-controller': { module: 'certmanager', package: './controller' },
  'cert-manager-cainjector': { module: 'certmanager', package: './cainjector' },
  helm3: { module: 'helm3', package: 'helm.sh/helm/v3/cmd/helm' },
  helm4: { module: 'helm4', package: 'helm.sh/helm/v4/cmd/helm' },
  kustomize: { module: 'kustomize', package: 'sigs.k8s.io/kustomize/kustomize/v5' },
  kubeconform: { module: 'kubeconform', package: 'github.com/yannh/kubeconform/cmd/kubeconform' },
  promtool: { module: 'promtool', package: 'github.com/prometheus/prometheus/cmd/promtool' },
}

/** What every scenario needs; a cluster with a node and the charts need more, and ask for it by name. */
export const controlPlaneBinaries = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const

export const goModules: readonly string[] = [...new Set(Object.values(sources).map(({ module }) => module))]

const toolsFolder = path.join(import.meta.dirname, '..', 'tools')

// A change of the flags below must not find binaries that were built with the old ones.
const recipe = 'v2: CGO_ENABLED=0 -trimpath -buildvcs=false -s -w, version by -X'

export function goModFile(module: string): string {
  return path.join(toolsFolder, module, 'go.mod')
}

/**
 * Resolves to the paths of the programs, building those that are not in the cache; the control plane takes about seven
 * minutes on two cores, afterwards some milliseconds. Safe to call from several processes at once: one builds, the
 * others wait.
 */
export async function ensureBinaries<Name extends BinaryName>(
  names: readonly Name[],
  report: (line: string) => void = () => {},
): Promise<Binaries<Name>> {
  const built: [Name, string][] = []
  for (const name of names) built.push([name, await ensureBinary(name, report)])
  return Object.fromEntries(built) as Record<Name, string>
}

async function ensureBinary(name: BinaryName, report: (line: string) => void): Promise<string> {
  const { module } = sources[name]
  const folder = path.join(cacheRoot(), `${module}-${await recipeHash(module)}`)
  const binary = path.join(folder, name)
  if (existsSync(binary)) return binary

  await mkdir(folder, { recursive: true })
  const build = async () => {
    await removeLeftovers(folder)
    if (!existsSync(binary)) await buildOne(name, folder, report)
  }
  await withLock(folder, build, () => report(`waiting for another build into ${folder}`))
  return binary
}

/** Of the recipe and of every file of the module: a change makes a new folder, and leaves other modules' programs. */
async function recipeHash(module: string): Promise<string> {
  const hash = createHash('sha256').update(recipe).update(process.arch)
  const folder = path.join(toolsFolder, module)
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = files.filter((file) => file.isFile()).map((file) => path.join(file.parentPath, file.name))
  for (const file of paths.sort()) hash.update(path.relative(folder, file)).update(await readFile(file))
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
  const linkerFlags = ['-s', '-w', ...(await versionFlags(source.module))].join(' ')
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

/** Programs that state their version, which a build outside of their own scripts does not know by itself. */
const versionVariables: Readonly<Record<string, { readonly module: string; readonly variable: string }>> = {
  helm3: { module: 'helm.sh/helm/v3', variable: 'helm.sh/helm/v3/internal/version.version' },
  helm4: { module: 'helm.sh/helm/v4', variable: 'helm.sh/helm/v4/internal/version.version' },
  kubernetes: { module: 'k8s.io/kubernetes', variable: 'k8s.io/component-base/version.gitVersion' },
}

async function versionFlags(toolModule: string): Promise<readonly string[]> {
  const stated = versionVariables[toolModule]
  if (stated === undefined) return []
  const version = await requiredVersion(toolModule, stated.module)
  const flags = [`-X ${stated.variable}=v${version}`]
  // Clients look at the parts of the server's version too.
  if (toolModule !== 'kubernetes') return flags
  const [gitMajor, gitMinor] = version.split('.')
  const parts = Object.entries({ gitMajor, gitMinor, gitTreeState: 'clean' })
  return [...flags, ...parts.map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`)]
}

/** Which version of `required` the go.mod of `e2e/tools/<toolModule>` pins. */
export async function requiredVersion(toolModule: string, required: string): Promise<string> {
  const lines = (await readFile(goModFile(toolModule), 'utf8'))
    .split('\n')
    .map((line) => line.trim().replace(/^require /u, ''))
  const version = lines
    .find((line) => line.startsWith(`${required} v`))
    ?.split(/\s+/u)[1]
    ?.slice(1)
  if (version === undefined) throw new Error(`${goModFile(toolModule)} requires no ${required}`)
  return version
}
