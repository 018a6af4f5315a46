import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { parseAllDocuments } from 'yaml'

/** One object of a manifest, and where it stands, for messages. */
export interface SourceObject {
  /** Such as `claims.yaml` or `claims.yaml, document 2, item 7`. */
  readonly where: string
  readonly object: unknown
}

export interface FolderContent {
  readonly objects: readonly SourceObject[]
  /** Each with the path and the reason. */
  readonly problems: readonly string[]
}

const extensions = new Set(['.yaml', '.yml', '.json'])

/** Every object of every manifest below `folder`; what begins with a dot is left out. Never rejects. */
export async function readFolder(folder: string): Promise<FolderContent> {
  const problem = await whyNoFolder(folder)
  if (problem !== undefined) return { objects: [], problems: [problem] }
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => extensions.has(path.extname(name)) && !name.split(path.sep).some((part) => part.startsWith('.')))
    .toSorted()
  if (names.length === 0) {
    return { objects: [], problems: [`${folder}: no *.yaml, *.yml or *.json in it`] }
  }
  const contents = await Promise.all(names.map((name) => readManifest(path.join(folder, name))))
  return {
    objects: contents.flatMap(({ objects }) => objects),
    problems: contents.flatMap(({ problems }) => problems),
  }
}

async function whyNoFolder(folder: string): Promise<string | undefined> {
  try {
    return (await stat(folder)).isDirectory() ? undefined : `${folder}: is no folder`
  } catch (error) {
    return `${folder}: ${reasonOf(error)}`
  }
}

async function readManifest(file: string): Promise<FolderContent> {
  try {
    if ((await stat(file)).isDirectory()) return { objects: [], problems: [] }
    return parseManifest(file, await readFile(file, 'utf8'))
  } catch (error) {
    return { objects: [], problems: [`${file}: ${reasonOf(error)}`] }
  }
}

/** One or several documents; a JSON file is one. Lists are taken apart. */
export function parseManifest(file: string, text: string): FolderContent {
  if (path.extname(file) === '.json') {
    try {
      return { objects: itemsOf({ where: file, object: JSON.parse(text) }), problems: [] }
    } catch (error) {
      return { objects: [], problems: [`${file}: ${reasonOf(error)}`] }
    }
  }
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return { objects: [], problems: [] }
  const objects: SourceObject[] = []
  const problems: string[] = []
  for (const [index, document] of documents.entries()) {
    const where = documents.length === 1 ? file : `${file}, document ${index + 1}`
    const [error] = document.errors
    if (error !== undefined) problems.push(`${where}: ${firstLine(error.message)}`)
    else objects.push(...itemsOf({ where, object: document.toJS() }))
  }
  return { objects, problems }
}

/** `kubectl get -o yaml` of several objects gives a List. An empty document holds nothing. */
function itemsOf({ where, object }: SourceObject): readonly SourceObject[] {
  if (object === null || object === undefined) return []
  const { kind, items } = object as { readonly kind?: unknown; readonly items?: unknown }
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [{ where, object }]
  return items.flatMap((item: unknown, index) => itemsOf({ where: `${where}, item ${index + 1}`, object: item }))
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'is not there'
  return code === 'EACCES' ? 'may not be read' : firstLine(error.message)
}

/** Parsers go on with an excerpt. */
function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? message).replace(/:$/u, '')
}
