import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import Mocha from 'mocha'
import { controlPlaneBinaries, ensureBinaries } from './binaries.ts'
import { missingPrerequisites, type Need } from './prerequisites.ts'
import { ScenarioReporter } from './scenario-reporter.ts'
import { removeRunFolder, runFolder } from './scenario-folder.ts'
import { clusterNeeds } from './start-cluster.ts'
import { prepareTestBed } from './test-bed/test-bed.ts'

const usage = `Runs end-to-end scenarios, one after another, against a real Kubernetes control plane.

  node e2e/src/run.ts [options] [scenario ...]

  scenario           files of e2e/src/scenarios by name, without .e2e.ts; all of them by default
  --grep <text>      only scenarios whose title contains this
  --keep             leave logs and data in place, also when everything passed
  --build            only build what the control plane needs
  --help

  E2E_CACHE          folder for built programs (default ~/.cache/k8s-cloud-tagger/e2e)
  E2E_CONTAINERS=no  no node and no pods, also where this machine could run them
  E2E_KUBECONFIG     run against this cluster instead; an administrator's kubeconfig
  E2E_WEBHOOK_HOST   with it: this machine's address as that cluster's API server and pods reach it; for the scenarios
                     that install the chart, its nodes must have the image: \`make image\` makes an archive

Exit code 0 when all passed, 1 when one failed or none ran, 2 when something is missing on this machine.`

const scenariosFolder = path.join(import.meta.dirname, 'scenarios')

// Covers the slowest scenario many times over; each wait inside has a limit and an error of its own.
const scenarioTimeoutMs = 300_000

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      grep: { type: 'string' },
      keep: { type: 'boolean', default: false },
      build: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const files = filesOf(positionals)
  const needs = clusterNeeds()
  const missing = await missingPrerequisites([...needs, ...needsOf(files)])
  if (missing.length > 0) {
    console.error(['Cannot run the end-to-end scenarios:', ...missing.map((one) => `  - ${one}`)].join('\n'))
    return 2
  }
  if (needs.includes('control-plane')) await ensureBinaries(controlPlaneBinaries, console.log)
  if (files.some((file) => uses(file, 'startTestBed('))) await prepareTestBed(console.log)
  if (values.build) return 0

  const failures = await runScenarios(files, values.grep)
  const folder = runFolder()
  if (folder !== undefined && (failures > 0 || values.keep)) console.log(`Logs and data: ${folder}`)
  else removeRunFolder()
  return failures > 0 ? 1 : 0
}

function filesOf(names: readonly string[]): readonly string[] {
  const all = globSync('*.e2e.ts', { cwd: scenariosFolder }).sort()
  const unknown = names.filter((name) => !all.includes(`${name}.e2e.ts`))
  if (unknown.length > 0) {
    throw new Error(`No scenario ${unknown.join(', ')}; there are: ${all.map((file) => file.slice(0, -7)).join(', ')}`)
  }
  return names.length === 0 ? all : names.map((name) => `${name}.e2e.ts`)
}

// What a scenario needs besides a cluster, by what it calls.
const needsByCall: readonly (readonly [call: string, need: Need])[] = [
  ['startMoto(', 'moto'],
  ['startTestBed(', 'charts'],
  ['buildImage(', 'image'],
  ['tools/release.ts', 'image'],
]

function needsOf(files: readonly string[]): readonly Need[] {
  return needsByCall.flatMap(([call, need]) => (files.some((file) => uses(file, call)) ? [need] : []))
}

function uses(file: string, call: string): boolean {
  return readFileSync(path.join(scenariosFolder, file), 'utf8').includes(call)
}

async function runScenarios(files: readonly string[], grep: string | undefined): Promise<number> {
  const mocha = new Mocha({
    reporter: ScenarioReporter,
    timeout: scenarioTimeoutMs,
    forbidOnly: true,
    forbidPending: true,
    ...(grep !== undefined && { fgrep: grep }),
  })
  for (const file of files) mocha.addFile(path.join(scenariosFolder, file))
  await mocha.loadFilesAsync()
  return new Promise((resolve) => {
    const runner = mocha.run((failures) => resolve(runner.stats?.tests === 0 ? 1 : failures))
  })
}

try {
  // Ends the process even where a scenario left something running; what it started dies with it.
  process.exit(await main())
} catch (error) {
  console.error(error)
  process.exit(1)
}
