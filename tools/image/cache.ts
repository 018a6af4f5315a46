import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'

/** Where downloads are kept between builds: `IMAGE_CACHE`, else below the user's cache folder. */
function cacheFolder(): string {
  const chosen = process.env['IMAGE_CACHE']
  if (chosen !== undefined && chosen !== '') return path.resolve(chosen)
  const userCache = process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache')
  return path.join(userCache, 'k8s-cloud-tagger', 'image')
}

export interface Download {
  readonly name: string
  /** As `sha256-<hex>` or, as npm writes it, `sha512-<base64>`. */
  readonly integrity: string
  /** Puts the file at this path. */
  readonly fetch: (file: string) => Promise<void>
}

/** The path of the file, downloaded once and checked each time; a file with another content is an error, never used. */
export async function cachedFile({ fetch, integrity, name }: Download): Promise<string> {
  const folder = cacheFolder()
  const file = path.join(folder, name)
  if (await holds(file, integrity)) return file
  await mkdir(folder, { recursive: true })
  const scratch = `${file}.${process.pid}`
  try {
    await fetch(scratch)
    if (!(await holds(scratch, integrity))) throw new Error(`${name} is not what is pinned: it has not ${integrity}`)
    await rename(scratch, file)
    return file
  } finally {
    await rm(scratch, { force: true })
  }
}

async function holds(file: string, integrity: string): Promise<boolean> {
  if (!existsSync(file)) return false
  const dash = integrity.indexOf('-')
  const [algorithm, wanted] = [integrity.slice(0, dash), integrity.slice(dash + 1)]
  const encoding = algorithm === 'sha256' ? 'hex' : 'base64'
  const digest = createHash(algorithm)
    .update(await readFile(file))
    .digest(encoding)
  return digest === wanted
}
