/** Every place where the product's own version stands, so that one command can set it and a test can compare. */
import { globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import addresses from './addresses.json' with { type: 'json' }

export interface VersionSite {
  /** Below the root. */
  readonly file: string
  readonly version: string
}

const semver = String.raw`\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?`

/** `Chart.yaml` and the package files are named; texts are searched for our image, our chart and the labels of a render. */
interface Pattern {
  readonly files: readonly string[]
  /** Each match has the version as its group of that name, and the text before it as `before`. */
  readonly expressions: readonly RegExp[]
}

const chartPath = escaped(addresses.chart.replace(/^oci:\/\//u, ''))

const patterns: readonly Pattern[] = [
  {
    files: ['package.json', ...packageJson.workspaces.map((folder) => `${folder}/package.json`)],
    expressions: [expression(String.raw`^  "version": "`), expression(String.raw`"@k8s-cloud-tagger/[\w-]+": "`)],
  },
  {
    files: ['charts/k8s-cloud-tagger/Chart.yaml'],
    expressions: [expression(String.raw`^(?:version|appVersion): ['"]?`)],
  },
  {
    files: ['README.md', 'docs/**/*.{md,yaml}', 'charts/**/*.{md,yaml}', 'examples/**/*.{md,yaml}'],
    expressions: [
      expression(`${escaped(addresses.image)}:`),
      expression(String.raw`helm\.sh/chart: ['"]?k8s-cloud-tagger-`),
      expression(String.raw`app\.kubernetes\.io/version: ['"]?`),
      expression(String.raw`${chartPath}[\s\S]{0,300}?(?:--version[ =]|\b(?:targetRevision|tag|version): ['"]?)`),
    ],
  },
]

/** All of them, with package-lock.json's own. */
export async function versionSites(root: string): Promise<readonly VersionSite[]> {
  const sites: VersionSite[] = []
  for (const { file, expressions } of filesOf(root)) {
    const text = await readFile(path.join(root, file), 'utf8')
    for (const one of expressions) {
      for (const { groups } of text.matchAll(one)) sites.push({ file, version: groups?.['version'] ?? '' })
    }
  }
  const lock = await readLock(root)
  return [...sites, ...lockSites(lock).map(({ version }) => ({ file: lockFile, version }))]
}

/** Resolves to the files that it changed. */
export async function setVersion(root: string, version: string): Promise<readonly string[]> {
  const changed: string[] = []
  const write = async (file: string, before: string, after: string) => {
    if (after === before) return
    await writeFile(path.join(root, file), after)
    changed.push(file)
  }
  for (const { file, expressions } of filesOf(root)) {
    const before = await readFile(path.join(root, file), 'utf8')
    const after = expressions.reduce((text, one) => text.replaceAll(one, `$<before>${version}`), before)
    await write(file, before, after)
  }
  const before = await readFile(path.join(root, lockFile), 'utf8')
  const lock = JSON.parse(before) as Lock
  for (const site of lockSites(lock)) site.set(version)
  await write(lockFile, before, `${JSON.stringify(lock, null, 2)}\n`)
  return changed
}

function filesOf(root: string): readonly { readonly file: string; readonly expressions: readonly RegExp[] }[] {
  return patterns.flatMap(({ expressions, files }) =>
    globSync([...files], { cwd: root, exclude: ['**/node_modules/**'] })
      .sort()
      .map((file) => ({ file, expressions })),
  )
}

function expression(before: string): RegExp {
  return new RegExp(`(?<before>${before})(?<version>${semver})`, 'gmu')
}

function escaped(text: string): string {
  return text.replaceAll(/[.\\/$]/gu, String.raw`\$&`)
}

const lockFile = 'package-lock.json'

interface Lock {
  version: string
  readonly packages: Record<string, { version?: string; dependencies?: Record<string, string> }>
}

async function readLock(root: string): Promise<Lock> {
  return JSON.parse(await readFile(path.join(root, lockFile), 'utf8')) as Lock
}

interface LockSite {
  readonly version: string
  readonly set: (version: string) => void
}

/** Of the lock itself, of our packages, and of what they want of each other. */
function lockSites(lock: Lock): readonly LockSite[] {
  const own = Object.entries(lock.packages).filter(([folder]) => !folder.includes('node_modules'))
  return [
    { version: lock.version, set: (version) => void (lock.version = version) },
    ...own.flatMap(([, entry]) => packageSites(entry)),
  ]
}

function packageSites(entry: Lock['packages'][string]): readonly LockSite[] {
  const own = { version: entry.version ?? '', set: (version: string) => void (entry.version = version) }
  return [own, ...ownDependencies(entry.dependencies ?? {})]
}

function ownDependencies(dependencies: Record<string, string>): readonly LockSite[] {
  const names = Object.keys(dependencies).filter((name) => name.startsWith('@k8s-cloud-tagger/'))
  return names.map((name) => ({
    version: dependencies[name] ?? '',
    set: (version) => void (dependencies[name] = version),
  }))
}
