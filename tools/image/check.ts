/** What the image promises, looked for in its files, and where this machine can, by running it. */
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Architecture } from './oci.ts'
import type { FileEntry, TarEntry } from './tar.ts'

const run = promisify(execFile)

// e_machine of the ELF specification's processor supplements.
const machines: Readonly<Record<Architecture, number>> = { amd64: 62, arm64: 183 }

/** One sentence for each promise that is broken. */
export function brokenPromises(files: readonly TarEntry[], architecture: Architecture): readonly string[] {
  const binaries = files.filter((entry) => entry.kind === 'file').filter(isElf)
  const programs = binaries.filter(({ path: file, mode }) => (mode & 0o111) !== 0 && !isLibrary(file))
  return [
    ...programs.filter(({ path: file }) => file !== 'usr/bin/node').map(({ path: file }) => `${file} is a program`),
    ...binaries
      .filter(({ content }) => content.readUInt16LE(18) !== machines[architecture])
      .map(({ path: file }) => `${file} is not for ${architecture}`),
    ...files.filter(isWritable).map(({ path: file }) => `everybody may write to ${file}`),
    ...files.filter(isPrivileged).map(({ path: file }) => `${file} changes its user`),
    ...['usr/bin/node', 'usr/bin/k8s-cloud-tagger', 'app/k8s-cloud-tagger.js', 'etc/passwd']
      .filter((wanted) => !files.some(({ path: file }) => file === wanted))
      .map((wanted) => `${wanted} is missing`),
    ...missingLibraries(files).map((library) => `Node needs ${library}, which is missing`),
  ]
}

function isElf({ content }: FileEntry): boolean {
  return content.length > 64 && content.readUInt32BE(0) === 0x7f454c46
}

function isLibrary(file: string): boolean {
  return /\.so(?:\.|$)/u.test(path.basename(file))
}

function isWritable(entry: TarEntry): boolean {
  return entry.kind !== 'link' && entry.path !== 'tmp' && (entry.mode & 0o022) !== 0
}

function isPrivileged(entry: TarEntry): boolean {
  return entry.kind === 'file' && (entry.mode & 0o6000) !== 0
}

/** By name: the sonames that stand in Node's own file. */
function missingLibraries(files: readonly TarEntry[]): readonly string[] {
  const node = files.find(({ path: file }) => file === 'usr/bin/node')
  if (node?.kind !== 'file') return []
  const there = new Set(files.map(({ path: file }) => path.basename(file)))
  return neededLibraries(node.content).filter((name) => !there.has(name))
}

/** The DT_NEEDED entries of a 64-bit little-endian ELF file. */
export function neededLibraries(elf: Buffer): readonly string[] {
  const sectionsAt = Number(elf.readBigUInt64LE(40))
  const sectionBytes = elf.readUInt16LE(58)
  const sections = Array.from({ length: elf.readUInt16LE(60) }, (_, index) => {
    const header = elf.subarray(sectionsAt + index * sectionBytes, sectionsAt + (index + 1) * sectionBytes)
    const offset = Number(header.readBigUInt64LE(24))
    const content = () => elf.subarray(offset, offset + Number(header.readBigUInt64LE(32)))
    return { type: header.readUInt32LE(4), link: header.readUInt32LE(40), content }
  })
  const dynamicSection = 6
  const dynamic = sections.find(({ type }) => type === dynamicSection)
  const strings = sections[dynamic?.link ?? 0]?.content() ?? Buffer.alloc(0)
  const names: string[] = []
  const entries = dynamic?.content() ?? Buffer.alloc(0)
  for (let at = 0; at + 16 <= entries.length; at += 16) {
    const start = Number(entries.readBigUInt64LE(at + 8))
    if (entries.readBigInt64LE(at) === 1n) names.push(strings.subarray(start, strings.indexOf(0, start)).toString())
  }
  return names
}

/** Writes the image's files below `root`, as they lie in it. */
export async function unpack(files: readonly TarEntry[], root: string): Promise<void> {
  for (const entry of files) {
    const target = path.join(root, entry.path)
    await mkdir(path.dirname(target), { recursive: true })
    if (entry.kind === 'folder') {
      await mkdir(target, { recursive: true })
      // The mode that is asked for at creation is cut by the umask.
      await chmod(target, entry.mode)
    } else if (entry.kind === 'link') await symlink(entry.target, target)
    else await writeFile(target, entry.content, { mode: entry.mode })
  }
}

export type Trial =
  | { readonly kind: 'ran'; readonly output: string }
  | { readonly kind: 'cannot'; readonly reason: string }

/**
 * Runs the command in the unpacked image, read-only, as nobody, without any file of this machine: in namespaces of its
 * own, which needs root or user namespaces. Another architecture needs a static qemu-user.
 */
export async function tryCommand(
  files: readonly TarEntry[],
  { architecture, args }: { readonly architecture: Architecture; readonly args: readonly string[] },
): Promise<Trial> {
  const isNative = architecture === (process.arch === 'arm64' ? 'arm64' : 'amd64')
  const emulator = isNative ? undefined : await emulatorOf(architecture)
  if (!isNative && emulator === undefined) return { kind: 'cannot', reason: 'no static qemu-user is installed' }
  const root = await mkdtemp(path.join(tmpdir(), 'k8s-cloud-tagger-image-'))
  try {
    await chmod(root, 0o755)
    await unpack(files, root)
    await mkdir(path.join(root, 'proc'))
    if (emulator !== undefined) await copyFile(emulator, path.join(root, 'emulator'))
    const command =
      emulator === undefined
        ? ['/usr/bin/k8s-cloud-tagger']
        : ['/emulator', '/usr/bin/node', '/app/k8s-cloud-tagger.js']
    const inside = ['chroot', '--userspec=65532:65532', root, ...command, ...args]
    const script =
      'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount --rbind /proc "$0/proc" && exec "$@"'
    const isRoot = process.getuid?.() === 0
    const flags = ['--mount', ...(isRoot ? [] : ['--map-auto', '--map-root-user'])]
    const { stdout } = await run('unshare', [...flags, 'sh', '-c', script, root, ...inside], { env: {} })
    return { kind: 'ran', output: stdout.trim() }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

async function emulatorOf(architecture: Architecture): Promise<string | undefined> {
  const name = architecture === 'arm64' ? 'qemu-aarch64' : 'qemu-x86_64'
  for (const candidate of [`${name}-static`, name]) {
    const found = await run('sh', ['-c', `command -v ${candidate}`]).catch(() => undefined)
    if (found !== undefined) return found.stdout.trim()
  }
  return undefined
}
