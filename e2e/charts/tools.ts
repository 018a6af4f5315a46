import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureBinaries, type Binaries } from '../src/binaries.ts'
import { Helm } from './helm.ts'
import { writeSchemas } from './json-schemas.ts'

const names = ['helm3', 'helm4', 'kubeconform', 'promtool'] as const

export interface ChartTools {
  readonly helm3: Helm
  readonly helm4: Helm
  readonly binaries: Binaries<(typeof names)[number]>
  /** Folders of JSON schemas: those made of the Go modules, and those kept here, of products that have no module. */
  readonly schemas: readonly string[]
  /** For whatever a check writes; gone when this process ends. */
  readonly scratch: string
}

let tools: Promise<ChartTools> | undefined

/** Builds what is not built yet; once for all checks of a run. */
export function chartTools(report: (line: string) => void = () => {}): Promise<ChartTools> {
  return (tools ??= prepare(report))
}

async function prepare(report: (line: string) => void): Promise<ChartTools> {
  const binaries = await ensureBinaries(names, report)
  const scratch = mkdtempSync(path.join(tmpdir(), 'k8s-cloud-tagger-charts-'))
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
  const made = path.join(scratch, 'schemas')
  await writeSchemas(made)
  const helm3 = await Helm.create('Helm 3', binaries.helm3)
  const helm4 = await Helm.create('Helm 4', binaries.helm4)
  return { helm3, helm4, binaries, schemas: [made, path.join(import.meta.dirname, 'schemas')], scratch }
}
