/** Writes the generated docs and the chart's schema from the sources, or with --check fails where they differ. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { valuesSchema } from './chart-schema.ts'
import { configurationPage } from './configuration-page.ts'
import { fakesPage } from './fakes-page.ts'
import { metricsPage } from './metrics-page.ts'
import { reportPageAssets } from './report-page.ts'

const root = join(import.meta.dirname, '..')
const pages: Readonly<Record<string, string>> = {
  'docs/configuration.md': configurationPage(),
  'docs/fakes.md': fakesPage(),
  'docs/metrics.md': await metricsPage(),
  'report/src/html/page-assets.ts': await reportPageAssets(),
  'charts/k8s-cloud-tagger/values.schema.json': `${JSON.stringify(valuesSchema(), null, 2)}\n`,
}

const isCheck = process.argv.includes('--check')
for (const [name, page] of Object.entries(pages)) {
  const path = join(root, name)
  if (!isCheck) await writeFile(path, page)
  else if ((await readFile(path, 'utf8').catch(() => '')) !== page) {
    console.error(`${name} is not what the sources say: run 'make generate' and commit it.`)
    process.exitCode = 1
  }
}
