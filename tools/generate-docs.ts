/** Writes `docs/configuration.md` and `docs/metrics.md` from the sources, or with --check fails where they differ. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { configurationPage } from './configuration-page.ts'
import { metricsPage } from './metrics-page.ts'

const docs = join(import.meta.dirname, '..', 'docs')
const pages: Readonly<Record<string, string>> = {
  'configuration.md': configurationPage(),
  'metrics.md': await metricsPage(),
}

const isCheck = process.argv.includes('--check')
for (const [name, page] of Object.entries(pages)) {
  const path = join(docs, name)
  if (!isCheck) await writeFile(path, page)
  else if ((await readFile(path, 'utf8').catch(() => '')) !== page) {
    console.error(`docs/${name} is not what the sources say: run 'make generate' and commit it.`)
    process.exitCode = 1
  }
}
