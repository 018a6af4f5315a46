/** What `make bundle` put into `dist/`: our program's files, and which packages they came from. */
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { lockedPackage, packageFolderOf, packageNameOf, type PackageLock, type PinnedPackage } from './package-lock.ts'
import type { TarEntry } from './tar.ts'

export interface BundledPackage extends PinnedPackage {
  readonly name: string
  /** Below the project's root. */
  readonly folder: string
}

/** Where the bundler leaves the list of source files whose code is in the bundle; not shipped. */
export const sourcesFile = 'sources.json'

// Beside the bundle lies what was made of it before.
const notShipped = /^sources\.json$|^(?:image|release)(?:\/|$)|\.tar$|\.spdx\.json$/u

/** The files of `dist/`, below `folder` in the image. */
export async function programFiles(dist: string, folder: string): Promise<readonly TarEntry[]> {
  const entries = await readdir(dist, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
  const names = files.map((file) => path.relative(dist, file)).filter((name) => !notShipped.test(name))
  if (!names.includes('k8s-cloud-tagger.js')) throw new Error(`${dist} holds no bundle: run 'make bundle' first`)
  return Promise.all(
    names.map(async (name): Promise<TarEntry> => {
      const content = await readFile(path.join(dist, name))
      const isCommand = name === 'k8s-cloud-tagger.js'
      return {
        kind: 'file',
        path: `${folder}/${name}`,
        mode: isCommand ? 0o755 : 0o644,
        content: isCommand ? asCommand(content) : content,
      }
    }),
  )
}

/** The kernel starts Node by itself: there is no shell and no `env` that could. */
function asCommand(script: Buffer): Buffer {
  return Buffer.concat([Buffer.from('#!/usr/bin/node\n'), script])
}

/** Sorted by folder. Throws for a file whose package the lock does not pin. */
export async function bundledPackages(dist: string, lock: PackageLock): Promise<readonly BundledPackage[]> {
  const sources = JSON.parse(await readFile(path.join(dist, sourcesFile), 'utf8')) as readonly string[]
  const folders = new Set(sources.map(packageFolderOf).filter((folder) => folder !== undefined))
  return [...folders].sort().map((folder) => bundledPackage(lock, folder))
}

function bundledPackage(lock: PackageLock, folder: string): BundledPackage {
  return { ...lockedPackage(lock, folder), folder, name: packageNameOf(folder) }
}

const licenceFile = /^(?:licen[cs]e|notice|copying)(?:[.-].*)?$/iu

/** The licences that ask to be passed on with the code, package by package. */
export async function licenceTexts(root: string, packages: readonly BundledPackage[]): Promise<string> {
  const texts = await Promise.all(
    packages.map(async ({ folder, license = 'unstated licence', name, version }) => {
      const files = (await readdir(path.join(root, folder))).filter((file) => licenceFile.test(file)).sort()
      const contents = await Promise.all(files.map((file) => readFile(path.join(root, folder, file), 'utf8')))
      return [`${name} ${version} (${license})`, ...contents.map((text) => text.trim())].join('\n\n')
    }),
  )
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}
