/** The report page's script and style, as a module of texts: the page has to hold all that it needs. */
import { join } from 'node:path'
import { build } from 'esbuild'
import type { BuildOptions } from 'esbuild'

const folder = join(import.meta.dirname, '..', 'report', 'page')

export async function reportPageAssets(): Promise<string> {
  const [script, style] = await Promise.all([
    built({ entryPoints: [join(folder, 'main.ts')], format: 'iife', platform: 'browser', target: 'es2022' }),
    built({ entryPoints: [join(folder, 'page.css')], target: ['chrome123', 'firefox120', 'safari17.5'] }),
  ])
  return `// Generated from report/page by 'make generate'; change it there.
export const pageScript = ${JSON.stringify(script)}
export const pageStyle = ${JSON.stringify(style)}
`
}

async function built(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    ...options,
    bundle: true,
    minify: true,
    write: false,
    legalComments: 'none' as const,
  })
  return outputFiles?.[0]?.text.trim() ?? ''
}
