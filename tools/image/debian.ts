/** The few libraries that Node is linked with, and the public certificates: from Debian packages pinned by their hash. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { cachedFile } from './cache.ts'
import type { Architecture } from './oci.ts'
import { readTar, type TarEntry } from './tar.ts'

const run = promisify(execFile)

const maxArchiveBytes = 256 * 1024 * 1024

export interface DebianPackage {
  readonly name: string
  readonly version: string
  /** Below the archive's root. */
  readonly file: string
  readonly sha256: string
}

export interface DebianPins {
  readonly suite: string
  readonly packages: Readonly<Record<Architecture, readonly DebianPackage[]>>
}

export const pinsFile = path.join(import.meta.dirname, 'debian-packages.json')

// A version that was replaced leaves the first two; the last keeps everything, by date.
const archives = [
  'http://deb.debian.org/debian/',
  'http://deb.debian.org/debian-security/',
  'http://snapshot.debian.org/archive/debian/20261201T000000Z/',
]

export async function readPins(): Promise<DebianPins> {
  return JSON.parse(await readFile(pinsFile, 'utf8')) as DebianPins
}

/** What the image holds of these packages: shared libraries, certificates, licences. No program besides the loader. */
export async function debianFiles(packages: readonly DebianPackage[]): Promise<readonly TarEntry[]> {
  const contents = await Promise.all(packages.map(contentsOf))
  const files = contents.flat()
  return [...files.filter(isKept), certificateBundle(files)]
}

async function contentsOf(pinned: DebianPackage): Promise<readonly TarEntry[]> {
  const name = path.basename(pinned.file)
  const file = await cachedFile({ name, integrity: `sha256-${pinned.sha256}`, fetch: (to) => download(pinned, to) })
  const { stdout } = await run('dpkg-deb', ['--fsys-tarfile', file], { encoding: 'buffer', maxBuffer: maxArchiveBytes })
  return readTar(stdout)
}

/** By apt's own downloader, which knows this machine's proxies. */
async function download({ file, name, sha256, version }: DebianPackage, to: string): Promise<void> {
  const failures: unknown[] = []
  for (const archive of archives) {
    try {
      await run('/usr/lib/apt/apt-helper', ['download-file', `${archive}${file}`, to, `SHA256:${sha256}`])
      return
    } catch (error) {
      failures.push(error)
    }
  }
  const advice = "Where Debian has a newer one, 'node tools/image.ts --pin' pins it."
  throw new AggregateError(failures, `${name} ${version} cannot be had by apt. ${advice}`)
}

// Conversions between character sets, and what only a C compiler or an auditor of the linker wants.
const leftOut =
  /\/(?:gconv|audit)\/|\/libmemusage|\/libpcprofile|\/libthread_db|\/libc_malloc_debug|pretty-printer|\.py$/u
const library = /^(?:usr\/)?lib(?:64)?\/.*\.so(?:\.|$)/u
const licence = /^usr\/share\/doc\/[^/]+\/copyright$/u

function isKept(entry: TarEntry): boolean {
  return entry.kind !== 'folder' && (library.test(entry.path) || licence.test(entry.path)) && !leftOut.test(entry.path)
}

/** What `update-ca-certificates` would write: every authority that Debian takes over from Mozilla. */
function certificateBundle(files: readonly TarEntry[]): TarEntry {
  const certificates = files
    .filter((entry) => entry.kind === 'file')
    .filter(({ path: name }) => name.startsWith('usr/share/ca-certificates/mozilla/') && name.endsWith('.crt'))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  if (certificates.length < 100) throw new Error(`ca-certificates has only ${certificates.length} certificates`)
  const content = Buffer.concat(certificates.map(({ content }) => content))
  return { kind: 'file', path: 'etc/ssl/certs/ca-certificates.crt', mode: 0o644, content }
}
