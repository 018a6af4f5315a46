import { cp, mkdir } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { controlPlaneBinaries, ensureBinaries } from '../src/binaries.ts'
import { missingPrerequisites } from '../src/prerequisites.ts'
import { removeRunFolder, scenarioFolder } from '../src/scenario-folder.ts'
import { cloudNames, type CloudName } from './clouds/bench-cloud.ts'
import type { RawEntry } from './report/entry.ts'
import { mergeFigures, writeFigures } from './report/figures-file.ts'
import { writePages } from './report/pages.ts'
import { textTable } from './report/text-table.ts'
import { sizes, type Row } from './row.ts'
import { rows } from './rows/rows.ts'
import { Stage } from './stage.ts'

const usage = `Measures what the product promises, on a control plane and against fakes of the clouds, on this machine.

  node e2e/bench/main.ts [options]

  --cloud <names>    of ${cloudNames.join(', ')}; all by default
  --claims <sizes>   of ${sizes.join(', ')}; all by default
  --rows <names>     of ${rows.map(({ name }) => name).join(', ')}; all by default
  --out <folder>     default docs/performance; what was measured there before stays
  --pages            measure nothing, write the pages anew
  --keep             leave logs and data in place
  --help

Lists are separated by commas. Exit code 0 when everything could be measured, whatever the figures are; 1 when a row
failed; 2 when something is missing on this machine.`

const root = path.join(import.meta.dirname, '..', '..')
const startedMs = performance.now()

function log(line: string): void {
  const seconds = Math.floor((performance.now() - startedMs) / 1000)
  console.log(`[${String(Math.floor(seconds / 60)).padStart(2)}:${String(seconds % 60).padStart(2, '0')}] ${line}`)
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      cloud: { type: 'string', default: cloudNames.join(',') },
      claims: { type: 'string', default: sizes.join(',') },
      rows: { type: 'string', default: rows.map(({ name }) => name).join(',') },
      out: { type: 'string', default: path.join(root, 'docs', 'performance') },
      pages: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const clouds = chosen('cloud', values.cloud, cloudNames)
  const claims = chosen('number of claims', values.claims, sizes.map(String)).map(Number)
  const wanted = chosen(
    'row',
    values.rows,
    rows.map(({ name }) => name),
  )
  const wantedRows = rows.filter(({ name }) => wanted.includes(name))
  const save = async (measured: readonly RawEntry[]) => publish(values.out, measured)
  if (values.pages) {
    await save([])
    return 0
  }
  const missing = await missingPrerequisites(['control-plane'])
  if (missing.length > 0) {
    console.error(['Cannot measure:', ...missing.map((one) => `  - ${one}`)].join('\n'))
    return 2
  }
  await ensureBinaries(controlPlaneBinaries, log)
  // A build meanwhile must not change what is measured.
  const bundle = scenarioFolder('bundle')
  await cp(path.join(root, 'dist'), bundle, { recursive: true })

  let failures = 0
  for (const cloud of clouds) {
    for (const size of claims) {
      const here = wantedRows.filter((row) => row.clouds.includes(cloud) && row.claims.includes(size))
      if (here.length === 0) continue
      failures += await measureAll(here, {
        cloud,
        claims: size,
        command: path.join(bundle, 'k8s-cloud-tagger.js'),
        save,
      })
    }
  }
  if (values.keep) log(`Logs and data: ${path.dirname(bundle)}`)
  else removeRunFolder()
  return failures > 0 ? 1 : 0
}

interface Choice {
  readonly cloud: CloudName
  readonly claims: number
  readonly command: string
  readonly save: (measured: readonly RawEntry[]) => Promise<void>
}

/** Runs the rows on one stage, each kept as soon as it is measured. Resolves to how many failed. */
async function measureAll(here: readonly Row[], { cloud, claims, command, save }: Choice): Promise<number> {
  log(`${cloud}, ${claims} claims: setting the stage`)
  const dir = scenarioFolder(`${cloud}-${claims}`)
  const stage = await Stage.open({ cloud, claims, dir, command, log })
  let failures = 0
  try {
    for (const row of here) {
      log(`${cloud}, ${claims} claims: ${row.name}`)
      try {
        if (row.startsFrom === 'tagged') await stage.tagAll()
        const measurements = await row.run(stage)
        await save(rawEntries(row, { cloud, claims, measurements }))
      } catch (error) {
        failures++
        log(`${cloud}, ${claims} claims: ${row.name} FAILED: ${error instanceof Error ? error.stack : String(error)}`)
      }
      await stage.removeNewPairs()
    }
  } finally {
    await stage.close()
  }
  return failures
}

function rawEntries(
  row: Row,
  {
    cloud,
    claims,
    measurements,
  }: Pick<Choice, 'cloud' | 'claims'> & { readonly measurements: Awaited<ReturnType<Row['run']>> },
): readonly RawEntry[] {
  const measuredOn = new Date().toISOString().slice(0, 10)
  return row.figures.flatMap((figure) => {
    const measured = measurements[figure.name]
    if (measured === undefined) return []
    const { value, note } = typeof measured === 'number' ? { value: measured, note: undefined } : measured
    return [
      { row: row.name, figure: figure.name, cloud, claims, value, measuredOn, ...(note !== undefined && { note }) },
    ]
  })
}

let lastTable = ''

async function publish(folder: string, measured: readonly RawEntry[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  const file = path.join(folder, 'figures.json')
  const figures = mergeFigures(file, { machine: machine(), rows, measured })
  writeFigures(file, figures)
  await writePages(folder, figures, rows)
  lastTable = textTable(figures.entries)
}

function machine(): string {
  return `${cpus().length} cores, ${Math.round(totalmem() / 1024 ** 3)} GiB`
}

function chosen<T extends string>(what: string, list: string, known: readonly T[]): readonly T[] {
  const names = list.split(',').map((name) => name.trim().replaceAll('_', ''))
  const unknown = names.filter((name) => !known.some((one) => one === name))
  if (unknown.length > 0) throw new Error(`No ${what} ${unknown.join(', ')}; there are: ${known.join(', ')}`)
  return known.filter((one) => names.includes(one))
}

try {
  const code = await main()
  if (lastTable !== '') console.log(`\n${lastTable}\n`)
  log('done')
  process.exit(code)
} catch (error) {
  console.error(error)
  process.exit(1)
}
