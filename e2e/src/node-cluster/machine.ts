import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { networkOf } from './network.ts'
import { createControlGroup, removeControlGroup } from './control-group.ts'

const run = promisify(execFile)

/** What a node runs that no Go module brings, by where Debian and Ubuntu have it. */
const programs: Readonly<Record<string, { readonly package: string; readonly path?: string }>> = {
  containerd: { package: 'containerd' },
  ctr: { package: 'containerd' },
  runc: { package: 'runc' },
  'the network plugin bridge': { package: 'containernetworking-plugins', path: '/usr/lib/cni/bridge' },
  nft: { package: 'nftables' },
  iptables: { package: 'iptables' },
  ip: { package: 'iproute2' },
  nsenter: { package: 'util-linux' },
  unshare: { package: 'util-linux' },
  // For the image.
  'dpkg-deb': { package: 'dpkg' },
  'apt-helper': { package: 'apt', path: '/usr/lib/apt/apt-helper' },
}

/**
 * Resolves to the reasons why this machine cannot run a node, empty where it can. As root, packages that are missing are
 * installed by apt first.
 */
export async function whyNoNode(report: (line: string) => void): Promise<readonly string[]> {
  if (process.platform !== 'linux') return [`Linux is needed; this is ${process.platform}.`]
  if (process.env['E2E_CONTAINERS'] === 'no') return ['E2E_CONTAINERS=no says so.']
  if (process.getuid?.() !== 0) return ['root is needed to run containers.']
  const missing = await missingPrograms()
  if (missing.length > 0) await install(missing, report)
  const stillMissing = await missingPrograms()
  if (stillMissing.length > 0) {
    return stillMissing.map((name) => `${name} is missing (Debian: ${programs[name]?.package ?? name}).`)
  }
  const refusals = await Promise.all([namespaceRefusal(), controlGroupRefusal()])
  return refusals.filter((refusal) => refusal !== undefined)
}

async function missingPrograms(): Promise<readonly string[]> {
  const names = Object.keys(programs)
  const found = await Promise.all(names.map((name) => isThere(name, programs[name]?.path)))
  return names.filter((_, index) => found[index] === false)
}

async function isThere(name: string, file: string | undefined): Promise<boolean> {
  if (file !== undefined) return existsSync(file)
  return run('sh', ['-c', 'command -v "$0"', name]).then(
    () => true,
    () => false,
  )
}

/** A failure is no error here: what is missing afterwards is named. */
async function install(names: readonly string[], report: (line: string) => void): Promise<void> {
  if (!(await isThere('apt-get', undefined))) return
  const packages = [...new Set(names.map((name) => programs[name]?.package ?? name))]
  report(`installing ${packages.join(', ')} by apt-get ...`)
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 64 * 1024 * 1024 }
  const arguments_ = ['install', '--yes', '--no-install-recommends', ...packages]
  try {
    await run('apt-get', ['update'], options)
    await run('apt-get', arguments_, options)
  } catch (error) {
    report(`apt-get could not: ${String(error)}`)
  }
}

// Everything that a node does to the kernel, tried where nobody sees it.
const trial = `set -e
ip link add trial0 type veth peer name trial1
ip link add trial2 type bridge
nft add table inet trial
mount -t tmpfs tmpfs /run
mkdir /run/lower /run/upper /run/work /run/merged
mount -t overlay overlay -o lowerdir=/run/lower,upperdir=/run/upper,workdir=/run/work /run/merged
`

async function namespaceRefusal(): Promise<string | undefined> {
  try {
    await run('unshare', ['--mount', '--net', '--pid', '--uts', '--fork', '--mount-proc', 'sh', '-c', trial])
    return undefined
  } catch (error) {
    const { stderr = '' } = error as { readonly stderr?: string }
    return `The kernel refuses what a node needs: ${stderr.trim() || String(error)}`
  }
}

async function controlGroupRefusal(): Promise<string | undefined> {
  const name = `${networkOf(0).groupName}-trial`
  try {
    await createControlGroup({ name, memoryBytes: 64 * 1024 ** 2 })
    return undefined
  } catch (error) {
    return `Control groups cannot be made: ${String(error)}`
  } finally {
    await removeControlGroup(name)
  }
}
