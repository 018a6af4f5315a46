import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

const root = '/sys/fs/cgroup'

/** The control group that all pods of a cluster live in, under either version of control groups. */
export interface ControlGroup {
  readonly name: string
  readonly memoryBytes: number
}

/** Bounds what the pods together may use. What a run that was killed left under this name is cleared away. */
export async function createControlGroup({ name, memoryBytes }: ControlGroup): Promise<void> {
  await removeControlGroup(name)
  if (isUnified()) {
    const folder = path.join(root, name)
    await mkdir(folder, { recursive: true })
    await writeFile(path.join(folder, 'memory.max'), String(memoryBytes))
    return
  }
  for (const controller of await controllers()) await mkdir(path.join(root, controller, name), { recursive: true })
  // A group without processors and memory nodes takes no process.
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    await writeFile(path.join(root, 'cpuset', name, file), await readFile(path.join(root, 'cpuset', file)))
  }
  await writeFile(path.join(root, 'memory', name, 'memory.limit_in_bytes'), String(memoryBytes))
}

/** Only works when all its processes have ended; what cannot be removed is left, empty. */
export async function removeControlGroup(name: string): Promise<void> {
  const parents = isUnified() ? [root] : (await controllers()).map((controller) => path.join(root, controller))
  for (const parent of parents) await removeTree(path.join(parent, name))
}

function isUnified(): boolean {
  return existsSync(path.join(root, 'cgroup.controllers'))
}

async function controllers(): Promise<readonly string[]> {
  const entries = await readdir(root, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
}

/** The files in it are the kernel's: only folders are removed, innermost first. */
async function removeTree(folder: string): Promise<void> {
  if (!existsSync(folder)) return
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeTree(path.join(folder, entry.name))
  }
  await rmdir(folder).catch(() => {})
}
