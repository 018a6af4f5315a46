// The Compute Engine fake as a process of its own, for demos and end-to-end runs:
//
//   node shared/testing/gcp/serve.ts [--port 0] [--host 127.0.0.1] [--latency-ms 0] [--quota] [--disks 0]
//        [--foreign-disks 0] [--adopt-unknown] [--project fake-project] [--require-token]
//
// Prints one line when it is ready, ends on SIGTERM or SIGINT. It is steered as control.ts says. Its metadata server is
// on the same address: GCE_METADATA_HOST=<host>:<port>.
import { parseArgs } from 'node:util'
import { addNumberedDisks, controlRoute } from './control.ts'
import { GcpFake } from './gcp-fake.ts'

const { values: flags } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    project: { type: 'string', default: 'fake-project' },
    'latency-ms': { type: 'string', default: '0' },
    disks: { type: 'string', default: '0' },
    'foreign-disks': { type: 'string', default: '0' },
    quota: { type: 'boolean', default: false },
    'adopt-unknown': { type: 'boolean', default: false },
    'require-token': { type: 'boolean', default: false },
  },
})

// Far above any numbered disk of a test, and of another cluster.
const foreign = { firstNumber: 1_000_000, cluster: 'another-cluster' }

const fake = await GcpFake.start({
  port: Number(flags.port),
  host: flags.host,
  project: flags.project,
  latencyMs: Number(flags['latency-ms']),
  quota: flags.quota,
  requireToken: flags['require-token'],
})
fake.extraRoute = controlRoute(fake)
fake.adoptUnknownDisks(flags['adopt-unknown'])
const folder = { project: flags.project, zone: 'europe-west4-a' }
addNumberedDisks(fake, Number(flags.disks), { folder })
addNumberedDisks(fake, Number(flags['foreign-disks']), { ...foreign, folder })

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void fake.close())
console.log(`Compute Engine fake listens on ${fake.url}`)
