/** Tar archives (POSIX ustar) that depend on nothing but their content: sorted, owned by root, without a time. */

export interface FileEntry {
  readonly kind: 'file'
  /** Without a leading slash, as all paths here. */
  readonly path: string
  readonly mode: number
  readonly content: Buffer
}

export interface FolderEntry {
  readonly kind: 'folder'
  readonly path: string
  readonly mode: number
}

export interface LinkEntry {
  readonly kind: 'link'
  readonly path: string
  readonly target: string
}

export type TarEntry = FileEntry | FolderEntry | LinkEntry

const blockBytes = 512
const typeFlags = { file: '0', folder: '5', link: '2' } as const

/** Parents come before what is in them; one path twice is an error. */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1))
  const twice = sorted.find(({ path }, index) => sorted[index + 1]?.path === path)
  if (twice !== undefined) throw new Error(`${twice.path} is in the archive twice`)
  const blocks = sorted.flatMap((entry) => [headerOf(entry), contentOf(entry)].flat())
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)])
}

function contentOf(entry: TarEntry): readonly Buffer[] {
  if (entry.kind !== 'file') return []
  const rest = entry.content.length % blockBytes
  return rest === 0 ? [entry.content] : [entry.content, Buffer.alloc(blockBytes - rest)]
}

function headerOf(entry: TarEntry): Buffer {
  const header = Buffer.alloc(blockBytes)
  const [prefix, name] = splitPath(entry.kind === 'folder' ? `${entry.path}/` : entry.path)
  header.write(name, 0)
  header.write(octal(entry.kind === 'link' ? 0o777 : entry.mode, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(entry.kind === 'file' ? entry.content.length : 0, 12), 124)
  header.write(octal(0, 12), 136)
  header.write(' '.repeat(8), 148)
  header.write(typeFlags[entry.kind], 156)
  if (entry.kind === 'link') header.write(fitting(entry.target, 100), 157)
  header.write('ustar\u000000', 257)
  header.write(prefix, 345)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** A name has room for 100 bytes, the folders before it for 155 more. */
function splitPath(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ['', path]
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    const name = path.slice(slash + 1)
    if (name !== '' && Buffer.byteLength(name) <= 100) return [fitting(path.slice(0, slash), 155), name]
  }
  throw new Error(`${path} is too long for a tar archive`)
}

function fitting(text: string, bytes: number): string {
  if (Buffer.byteLength(text) > bytes) throw new Error(`${text} is too long for a tar archive`)
  return text
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`
}

/** What an archive holds, as `dpkg-deb --fsys-tarfile` and npm write them; hard links become files. */
export function readTar(archive: Buffer): readonly TarEntry[] {
  const entries: TarEntry[] = []
  const files = new Map<string, FileEntry>()
  let longName: string | undefined
  for (let offset = 0; offset + blockBytes <= archive.length;) {
    const header = archive.subarray(offset, offset + blockBytes)
    if (header[0] === 0) break
    const size = Number.parseInt(field(header, 124, 12).trim(), 8) || 0
    const content = archive.subarray(offset + blockBytes, offset + blockBytes + size)
    offset += blockBytes + Math.ceil(size / blockBytes) * blockBytes
    const type = String.fromCharCode(header[156] ?? 0)
    // GNU tar writes a long name as an entry of its own before the entry that has it.
    if (type === 'L') {
      longName = content.toString().replace(/\0+$/u, '')
      continue
    }
    const entry = entryOf(header, { type, content, name: longName ?? nameOf(header), files })
    longName = undefined
    if (entry === undefined) continue
    entries.push(entry)
    if (entry.kind === 'file') files.set(entry.path, entry)
  }
  return entries
}

function entryOf(
  header: Buffer,
  {
    type,
    content,
    name,
    files,
  }: { type: string; content: Buffer; name: string; files: ReadonlyMap<string, FileEntry> },
): TarEntry | undefined {
  const path = withoutDots(name)
  const mode = Number.parseInt(field(header, 100, 8).trim(), 8)
  const target = field(header, 157, 100)
  if (path === '') return undefined
  if (type === '5') return { kind: 'folder', path, mode }
  if (type === '2') return { kind: 'link', path, target }
  if (type === '0' || type === '\0') return { kind: 'file', path, mode, content }
  if (type === '1')
    return { kind: 'file', path, mode, content: files.get(withoutDots(target))?.content ?? Buffer.alloc(0) }
  throw new Error(`${path}: a tar entry of type ${type} is not expected here`)
}

function nameOf(header: Buffer): string {
  const prefix = field(header, 345, 155)
  const name = field(header, 0, 100)
  return prefix === '' ? name : `${prefix}/${name}`
}

function withoutDots(name: string): string {
  return name
    .replace(/^\.?\/+/u, '')
    .replace(/^\.$/u, '')
    .replace(/\/+$/u, '')
}

function field(header: Buffer, start: number, length: number): string {
  const bytes = header.subarray(start, start + length)
  const end = bytes.indexOf(0)
  return bytes.subarray(0, end === -1 ? length : end).toString()
}
