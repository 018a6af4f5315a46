import { globSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import Mocha from 'mocha'
import { ScenarioReporter } from '../src/scenario-reporter.ts'
import { missingPrerequisites } from '../src/prerequisites.ts'
import { chartTools } from './tools.ts'

const usage = `Checks the chart: renders it with Helm 4 and Helm 3, against the schemas of Kubernetes and of the operators.

  node e2e/charts/run.ts [--grep <text>] [check ...]

  check              files of e2e/charts by name, without .chart.ts; all of them by default
  --grep <text>      only checks whose title contains this

  E2E_CACHE          folder for built programs (default ~/.cache/k8s-cloud-tagger/e2e)

Exit code 0 when all passed, 1 when one failed or none ran, 2 when something is missing on this machine.`

const checkTimeoutMs = 120_000

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { grep: { type: 'string' }, help: { type: 'boolean', default: false } },
  })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const missing = await missingPrerequisites(['charts'])
  if (missing.length > 0) {
    console.error(['Cannot check the chart:', ...missing.map((one) => `  - ${one}`)].join('\n'))
    return 2
  }
  const { helm3, helm4 } = await chartTools(console.log)
  console.log(`Helm ${await helm4.version()} and ${await helm3.version()}`)

  const mocha = new Mocha({
    reporter: ScenarioReporter,
    timeout: checkTimeoutMs,
    forbidOnly: true,
    forbidPending: true,
    ...(values.grep !== undefined && { fgrep: values.grep }),
  })
  for (const file of filesOf(positionals)) mocha.addFile(path.join(import.meta.dirname, file))
  await mocha.loadFilesAsync()
  return new Promise((resolve) => {
    const runner = mocha.run((failures) => resolve(failures > 0 || runner.stats?.tests === 0 ? 1 : 0))
  })
}

function filesOf(names: readonly string[]): readonly string[] {
  const all = globSync('*.chart.ts', { cwd: import.meta.dirname }).sort()
  const unknown = names.filter((name) => !all.includes(`${name}.chart.ts`))
  if (unknown.length > 0) {
    throw new Error(`No check ${unknown.join(', ')}; there are: ${all.map((file) => file.slice(0, -9)).join(', ')}`)
  }
  return names.length === 0 ? all : names.map((name) => `${name}.chart.ts`)
}

try {
  process.exit(await main())
} catch (error) {
  console.error(error)
  process.exit(1)
}
