import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

let root: string | undefined

/** A new folder for one scenario's logs and data, below one folder for the whole run. */
export function scenarioFolder(name: string): string {
  root ??= mkdtempSync(path.join(tmpdir(), 'k8s-cloud-tagger-e2e-'))
  return mkdtempSync(path.join(root, `${name}-`))
}

/** The folder of the whole run, where a scenario asked for one. */
export function runFolder(): string | undefined {
  return root
}

export function removeRunFolder(): void {
  if (root !== undefined) rmSync(root, { recursive: true, force: true })
  root = undefined
}
