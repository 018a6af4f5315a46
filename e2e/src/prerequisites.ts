import { execFile } from 'node:child_process'
import { access, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { goModFile, goModules } from './binaries.ts'
import { freePorts } from './ports.ts'

const run = promisify(execFile)

/** What a run is going to use; only that is looked for. */
export type Need = 'control-plane' | 'existing-cluster' | 'charts' | 'image' | 'moto' | 'root'

/**
 * Resolves to one sentence for each thing that is missing, empty where a run can begin. Looks at everything, so that
 * nobody has to come back for the next one.
 */
export async function missingPrerequisites(needs: readonly Need[]): Promise<readonly string[]> {
  const checks: Promise<string | undefined>[] = [linux()]
  if (needs.includes('control-plane')) checks.push(go(), loopback())
  if (needs.includes('charts')) checks.push(go())
  if (needs.includes('existing-cluster')) checks.push(kubeconfig(), webhookHost())
  if (needs.includes('image')) checks.push(debianTools())
  if (needs.includes('moto')) checks.push(python())
  if (needs.includes('root')) checks.push(root())
  return (await Promise.all(checks)).filter((missing) => missing !== undefined)
}

async function linux(): Promise<string | undefined> {
  return process.platform === 'linux' ? undefined : `Linux is needed; this is ${process.platform}.`
}

async function kubeconfig(): Promise<string | undefined> {
  const file = process.env['E2E_KUBECONFIG'] ?? ''
  try {
    await access(file)
    return undefined
  } catch {
    return `E2E_KUBECONFIG names a file that cannot be read: ${file}.`
  }
}

async function webhookHost(): Promise<string | undefined> {
  if ((process.env['E2E_WEBHOOK_HOST'] ?? '') !== '') return undefined
  return "E2E_WEBHOOK_HOST is needed with E2E_KUBECONFIG: this machine's address as that cluster's API server reaches it."
}

async function root(): Promise<string | undefined> {
  return process.getuid?.() === 0 ? undefined : 'root is needed for this scenario.'
}

/** From 1.21 on Go fetches the toolchain that a go.mod asks for, unless GOTOOLCHAIN forbids it. */
async function go(): Promise<string | undefined> {
  const wanted = await goVersionWanted()
  let installed: { GOVERSION: string; GOTOOLCHAIN: string }
  try {
    const { stdout } = await run('go', ['env', '-json', 'GOVERSION', 'GOTOOLCHAIN'])
    installed = JSON.parse(stdout) as typeof installed
  } catch {
    return `Go is needed to build what the tests run: ${wanted}, or 1.21 and later where it may fetch toolchains.`
  }
  const version = installed.GOVERSION.replace(/^go/u, '')
  if (isAtLeast(version, wanted)) return undefined
  if (!isAtLeast(version, '1.21')) return `Go ${wanted} is needed to build what the tests run; this is ${version}.`
  const mayFetch = installed.GOTOOLCHAIN === 'auto' || installed.GOTOOLCHAIN.endsWith('+auto')
  if (mayFetch) return undefined
  return `Go ${wanted} is needed to build what the tests run; this is ${version} and GOTOOLCHAIN=${installed.GOTOOLCHAIN} forbids to fetch it.`
}

async function goVersionWanted(): Promise<string> {
  const files = await Promise.all(goModules.map((module) => readFile(goModFile(module), 'utf8')))
  const versions = files.map((text) => /^go (?<version>\S+)$/mu.exec(text)?.groups?.['version'] ?? '1.21')
  return versions.reduce((highest, version) => (isAtLeast(version, highest) ? version : highest))
}

async function python(): Promise<string | undefined> {
  // From the list of versions in tools/moto.
  const wanted = '3.11'
  try {
    const script = 'import ensurepip, ssl, sys, venv; print("%d.%d" % sys.version_info[:2])'
    const { stdout } = await run('python3', ['-c', script])
    const version = stdout.trim()
    return isAtLeast(version, wanted) ? undefined : `Python ${wanted} is needed for moto; this is ${version}.`
  } catch {
    return `Python ${wanted} with its modules venv, ensurepip and ssl is needed for moto (Debian: python3-venv).`
  }
}

async function debianTools(): Promise<string | undefined> {
  try {
    await access('/usr/lib/apt/apt-helper')
    await run('dpkg-deb', ['--version'])
    await run('npm', ['--version'])
    return undefined
  } catch {
    return 'apt, dpkg-deb and npm are needed to build the image (Debian, Ubuntu).'
  }
}

async function loopback(): Promise<string | undefined> {
  try {
    await freePorts(5)
    return undefined
  } catch (error) {
    return `Free ports on 127.0.0.1 are needed: ${String(error)}.`
  }
}

/** Compares dotted numbers; a suffix such as `rc1` is left out. */
function isAtLeast(version: string, wanted: string): boolean {
  const numbers = (text: string) => text.split('.').map((part) => Number.parseInt(part, 10) || 0)
  const [have, want] = [numbers(version), numbers(wanted)]
  for (let index = 0; index < Math.max(have.length, want.length); index++) {
    const difference = (have[index] ?? 0) - (want[index] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}
