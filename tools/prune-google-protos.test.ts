import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { build } from 'esbuild'
import { GcpFake } from '../shared/testing/gcp/gcp-fake.ts'
import { pruneGoogleProtos, pruneProtos } from './prune-google-protos.ts'

describe('pruneProtos', () => {
  const root = {
    nested: {
      a: {
        nested: {
          Service: { methods: { Get: { requestType: 'Request', responseType: 'a.Answer' }, Put: unused('Unused') } },
          Request: { fields: { name: { type: 'string' } } },
          Answer: {
            fields: { kind: { type: 'Kind' }, other: { type: 'b.Other' }, again: { type: 'Answer' } },
            nested: { Kind: { fields: { deep: { type: 'Deep' } } } },
          },
          Deep: { fields: {} },
          Kind: { fields: { wrong: { type: 'Unused' } } },
          Unused: { fields: {} },
        },
      },
      b: { nested: { Other: { fields: {} }, Unused: { fields: {} } } },
      c: { nested: { Unused: { fields: {} } } },
    },
  }

  function unused(type: string) {
    return { requestType: type, responseType: type }
  }

  it('keeps the methods, and what their messages need, however it is named', () => {
    const pruned = pruneProtos(root, { 'a.Service': ['Get'] })

    expect(pruned).to.deep.equal({
      nested: {
        a: {
          nested: {
            Service: { methods: { Get: root.nested.a.nested.Service.methods.Get } },
            Request: root.nested.a.nested.Request,
            Answer: root.nested.a.nested.Answer,
            Deep: root.nested.a.nested.Deep,
          },
        },
        b: { nested: { Other: root.nested.b.nested.Other } },
      },
    })
  })

  it('says what is missing', () => {
    expect(() => pruneProtos(root, { 'a.Service': ['Move'] })).to.throw('the SDK has no a.Service.Move')
    expect(() => pruneProtos(root, { 'z.Service': ['Get'] })).to.throw('the SDK has no z.Service.Get')
  })
})

// What a program does on Google Cloud, for zonal and regional disks: read, write, sweep.
const program = `
import { createGcpProvider } from './shared/src/providers/gcp/gcp-provider.ts'
import { systemClock } from './shared/src/runtime/clock.ts'
import { silentLogger } from './shared/src/runtime/logger.ts'
import { noCloudMetrics } from './shared/src/providers/cloud-metrics.ts'

const began = performance.now()
const provider = await createGcpProvider({
  clock: systemClock,
  random: { next: () => 0.5 },
  logger: silentLogger,
  metrics: noCloudMetrics,
  budget: { profile: 'exclusive', share: 1 },
  endpoint: process.argv[2],
})
const loadMs = Math.round(performance.now() - began)
const options = { lane: 'fresh', signal: new AbortController().signal }
const disks = process.argv.slice(3).map((id) => ({ id }))
for (const disk of disks) {
  const observed = await provider.getTags(disk, options)
  await provider.applyChanges(disk, { set: new Map([['team', 'core']]), remove: new Map() }, observed, options)
}
let listed = 0
for await (const { observed } of provider.listTags(disks, options)) listed += Number(observed.tags.get('team') === 'core')
await provider.stop()
globalThis.gc?.()
console.log(JSON.stringify({ loadMs, listed, rssMb: Math.round(process.memoryUsage().rss / 1e6) }))
`

describe('the bundle for Google Cloud', () => {
  const zonal = ['a', 'b', 'c'].map((name) => `projects/fake-project/zones/europe-west4-a/disks/${name}`)
  const regional = ['d', 'e', 'f'].map((name) => `projects/fake-project/regions/europe-west4/disks/${name}`)
  const disks = [...zonal, ...regional]
  let folder: string
  let bytes: number

  before(async function () {
    this.timeout(60_000)
    folder = await mkdtemp(join(tmpdir(), 'gcp-bundle-'))
    const { metafile } = await build({
      stdin: { contents: program, resolveDir: join(import.meta.dirname, '..'), loader: 'ts' },
      outdir: folder,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      mainFields: ['module', 'main'],
      minify: true,
      keepNames: true,
      banner: { js: banner },
      plugins: [pruneGoogleProtos()],
      metafile: true,
      logLevel: 'warning',
    })
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0)
  })

  after(() => rm(folder, { recursive: true, force: true }))

  it('is small', () => {
    expect(bytes).to.be.lessThan(2_500_000)
  })

  it('reads, writes and sweeps, with a token from the metadata server', async function () {
    this.timeout(20_000)
    await using fake = await GcpFake.start({ requireToken: true })
    for (const id of disks) fake.addDisk(id, { labels: { 'goog-gke-volume': '' } })

    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--expose-gc', join(folder, 'stdin.js'), fake.url, ...disks],
      { env: { GCE_METADATA_HOST: fake.host, HOME: folder } },
    )

    expect(JSON.parse(stdout)).to.include({ listed: disks.length })
    for (const id of disks) expect(fake.labelsOf(id)).to.deep.equal({ 'goog-gke-volume': '', team: 'core' })
  })
})

// As in bundle.ts: bundled CommonJS modules expect these.
const banner = `import { createRequire as __createRequire } from 'node:module';
import { fileURLToPath as __fileURLToPath } from 'node:url';
import { dirname as __dirnameOf } from 'node:path';
const require = __createRequire(import.meta.url);
const __filename = __fileURLToPath(import.meta.url);
const __dirname = __dirnameOf(__filename);`
