// The Azure fake as a process of its own, for demos and end-to-end runs:
//
//   node shared/testing/azure/serve.ts [--port 0] [--host 127.0.0.1] [--latency-ms 0] [--buckets] [--disks 0]
//        [--foreign-disks 0] [--adopt-unknown] [--require-token]
//
// Prints one line when it is ready, ends on SIGTERM or SIGINT. It is steered as control.ts says.
import { parseArgs } from 'node:util'
import { AzureFake } from './azure-fake.ts'
import { addNumberedDisks, controlRoute } from './control.ts'

const { values: flags } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    'latency-ms': { type: 'string', default: '0' },
    disks: { type: 'string', default: '0' },
    'foreign-disks': { type: 'string', default: '0' },
    buckets: { type: 'boolean', default: false },
    'adopt-unknown': { type: 'boolean', default: false },
    'require-token': { type: 'boolean', default: false },
  },
})

const fake = await AzureFake.start({
  port: Number(flags.port),
  host: flags.host,
  latencyMs: Number(flags['latency-ms']),
  buckets: flags.buckets,
  requireToken: flags['require-token'],
})
fake.extraRoute = controlRoute(fake)
fake.adoptUnknownDisks(flags['adopt-unknown'])
addNumberedDisks(fake, Number(flags.disks))
addNumberedDisks(fake, Number(flags['foreign-disks']), 'somebody-elses')

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void fake.close())
console.log(`Azure fake listens on ${fake.url}`)
