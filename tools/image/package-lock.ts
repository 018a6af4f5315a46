import { readFile } from 'node:fs/promises'
import path from 'node:path'

/** What of package-lock.json (version 3) is used here. Keys are folders, such as `node_modules/a/node_modules/b`. */
export interface PackageLock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export interface LockedPackage {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
}

export interface PinnedPackage extends LockedPackage {
  readonly version: string
  readonly integrity: string
}

export async function readPackageLock(root: string): Promise<PackageLock> {
  return JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as PackageLock
}

/** Throws where the lock does not pin this folder's package. */
export function lockedPackage(lock: PackageLock, folder: string): PinnedPackage {
  const { integrity, version, ...rest } = lock.packages[folder] ?? {}
  if (version === undefined || integrity === undefined) throw new Error(`package-lock.json does not pin ${folder}`)
  return { ...rest, version, integrity }
}

/** `node_modules/@scope/a/node_modules/b/lib/x.js` → `node_modules/@scope/a/node_modules/b`; undefined for our own files. */
export function packageFolderOf(file: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/u.exec(file)?.[0]
}

export function packageNameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
