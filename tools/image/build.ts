/** The product's image, file by file. README, chart and Dockerfile rely on what is said here. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import addresses from '../release/addresses.json' with { type: 'json' }
import packageJson from '../../package.json' with { type: 'json' }
import { bundledPackages, licenceTexts, programFiles } from './bundled.ts'
import { debianFiles, readPins } from './debian.ts'
import { nodeBinary } from './node-binary.ts'
import { imageOf, layerOf, type Architecture, type Image } from './oci.ts'
import { readPackageLock } from './package-lock.ts'
import { spdxOf } from './sbom.ts'
import type { TarEntry } from './tar.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..', '..')

/** Nobody's: the number that images without a user database of their own agree on. */
const user = '65532:65532'

export interface BuildOptions {
  readonly architecture: Architecture
  /** Seconds since the epoch; see `sourceDate`. */
  readonly createdSeconds: number
  /** The commit, where it is known. */
  readonly revision?: string
}

export interface BuiltImage extends Image {
  readonly files: readonly TarEntry[]
  readonly sbom: string
}

/**
 * From `dist/`, package-lock.json and the pinned Debian packages alone, so that two builds are equal. The layers of
 * system and Node stay the same from release to release: a node that has them fetches some megabytes only.
 */
export async function buildImage(options: BuildOptions): Promise<BuiltImage> {
  const layers = await imageFiles(options)
  const created = isoSeconds(options.createdSeconds)
  const compressed = await Promise.all([layers.system, layers.node, layers.program].map(layerOf))
  const image = imageOf(
    {
      architecture: options.architecture,
      created,
      user,
      entrypoint: ['/usr/bin/k8s-cloud-tagger'],
      environment: { PATH: '/usr/bin' },
      labels: imageLabels(options),
    },
    compressed,
  )
  return { ...image, files: [...layers.system, ...layers.node, ...layers.program], sbom: layers.sbom }
}

async function imageFiles({ architecture, createdSeconds }: BuildOptions) {
  const dist = path.join(root, 'dist')
  const [lock, pins] = await Promise.all([readPackageLock(root), readPins()])
  const [node, packages] = await Promise.all([nodeBinary(architecture, lock), bundledPackages(dist, lock)])
  const debianPackages = pins.packages[architecture]
  const sbom = spdxOf({
    product: { ...packageJson, source: addresses.source },
    architecture,
    created: isoSeconds(createdSeconds),
    suite: pins.suite,
    debianPackages,
    node,
    bundledPackages: packages,
  })
  const docs = 'usr/share/doc/k8s-cloud-tagger'
  return {
    sbom,
    system: withFolders([...(await debianFiles(debianPackages)), ...systemFiles]),
    node: withFolders([
      { kind: 'file', path: 'usr/bin/node', mode: 0o755, content: node.content },
      text('usr/share/doc/node/LICENSE', node.licence),
    ]),
    program: withFolders([
      ...(await programFiles(dist, 'app')),
      { kind: 'link', path: 'usr/bin/k8s-cloud-tagger', target: '../../app/k8s-cloud-tagger.js' },
      text(`${docs}/LICENSE`, await readFile(path.join(root, 'LICENSE'))),
      text(`${docs}/THIRD-PARTY-LICENSES`, await licenceTexts(root, packages)),
      text(`${docs}/sbom.spdx.json`, sbom),
    ]),
  }
}

/** Names for users and hosts, the folders that programs take for granted, and Debian's links from the old places. */
const systemFiles: readonly TarEntry[] = [
  text('etc/passwd', 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n'),
  text('etc/group', 'root:x:0:\nnonroot:x:65532:\n'),
  text('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
  { kind: 'folder', path: 'tmp', mode: 0o1777 },
  { kind: 'link', path: 'lib', target: 'usr/lib' },
  { kind: 'link', path: 'lib64', target: 'usr/lib64' },
]

function text(file: string, content: string | Buffer): TarEntry {
  return { kind: 'file', path: file, mode: 0o644, content: Buffer.from(content) }
}

/** With the folders that lead to each entry. */
export function withFolders(entries: readonly TarEntry[]): readonly TarEntry[] {
  const known = new Set(entries.map((entry) => entry.path))
  const folders = new Set<string>()
  for (const entry of entries) {
    for (let folder = path.dirname(entry.path); folder !== '.'; folder = path.dirname(folder)) folders.add(folder)
  }
  const missing = [...folders].filter((folder) => !known.has(folder))
  return [...missing.map((folder) => ({ kind: 'folder', path: folder, mode: 0o755 }) as const), ...entries]
}

function imageLabels({ createdSeconds, revision }: BuildOptions): Readonly<Record<string, string>> {
  const { description, license, name, version } = packageJson
  const labels = {
    created: isoSeconds(createdSeconds),
    description,
    documentation: `${addresses.source}#readme`,
    licenses: license,
    source: addresses.source,
    title: name,
    url: addresses.source,
    version,
    ...(revision !== undefined && { revision }),
  }
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [`org.opencontainers.image.${key}`, value]))
}

function isoSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}

/** The convention of reproducible builds: `SOURCE_DATE_EPOCH`, else the time of the last commit, else 1970. */
export async function sourceDate(): Promise<number> {
  const chosen = process.env['SOURCE_DATE_EPOCH']
  if (chosen !== undefined && chosen !== '') return Number(chosen)
  return Number((await git('log', '-1', '--format=%ct')) ?? 0)
}

/** Undefined outside of a checkout. */
export async function sourceRevision(): Promise<string | undefined> {
  return git('rev-parse', 'HEAD')
}

async function git(...args: readonly string[]): Promise<string | undefined> {
  try {
    return (await run('git', args, { cwd: root })).stdout.trim()
  } catch {
    return undefined
  }
}
