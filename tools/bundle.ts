/** Builds what the image ships: one command with its programs beside it, in `dist/`. Two builds of one source are equal. */
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { sourcesFile } from './image/bundled.ts'
import { pruneGoogleProtos } from './prune-google-protos.ts'

const root = join(import.meta.dirname, '..')
const outdir = join(root, 'dist')

/** Bundled CommonJS modules expect these; the output is ESM. */
const banner = `import { createRequire as __createRequire } from 'node:module';
import { fileURLToPath as __fileURLToPath } from 'node:url';
import { dirname as __dirnameOf } from 'node:path';
const require = __createRequire(import.meta.url);
const __filename = __fileURLToPath(import.meta.url);
const __dirname = __dirnameOf(__filename);`

await rm(outdir, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: {
    'k8s-cloud-tagger': 'tools/command.ts',
    webhook: 'webhook/src/main.ts',
    reconciler: 'reconciler/src/main.ts',
    report: 'report/src/main.ts',
  },
  external: ['./webhook.js', './reconciler.js', './report.js'],
  outdir,
  bundle: true,
  // Only the configured cloud's SDK is loaded: each stays behind its own dynamic import.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  // The SDKs' ES modules can be shaken, their CommonJS cannot: a fifth of the memory (measured for client-ec2).
  mainFields: ['module', 'main'],
  minify: true,
  keepNames: true,
  legalComments: 'none',
  chunkNames: 'chunks/[name]-[hash]',
  banner: { js: banner },
  plugins: [pruneGoogleProtos()],
  metafile: true,
  logLevel: 'warning',
})
await writeFile(join(outdir, 'package.json'), '{ "type": "module" }\n')
await chmod(join(outdir, 'k8s-cloud-tagger.js'), 0o755)
// For the image's bill of materials: only what left code in the bundle.
const sources = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs))
const used = new Set(sources.flatMap(([source, { bytesInOutput }]) => (bytesInOutput > 0 ? [source] : [])))
await writeFile(join(outdir, sourcesFile), JSON.stringify([...used].sort()))

const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0)
console.log(`dist: ${Object.keys(metafile.outputs).length} files, ${(bytes / 1e6).toFixed(1)} MB`)
