// The EC2 fake as a process of its own, for demos and end-to-end runs:
//
//   node shared/testing/ec2/serve.ts [--port 0] [--host 127.0.0.1] [--latency-ms 0] [--buckets] [--volumes 0]
//        [--foreign-volumes 0] [--adopt-unknown] [--region eu-west-1] [--require-signature]
//
// Prints one line when it is ready, ends on SIGTERM or SIGINT. It is steered as control.ts says.
import { parseArgs } from 'node:util'
import { addNumberedVolumes, controlRoute } from './control.ts'
import { Ec2Fake } from './ec2-fake.ts'

const { values: flags } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    region: { type: 'string', default: 'eu-west-1' },
    'latency-ms': { type: 'string', default: '0' },
    volumes: { type: 'string', default: '0' },
    'foreign-volumes': { type: 'string', default: '0' },
    buckets: { type: 'boolean', default: false },
    'adopt-unknown': { type: 'boolean', default: false },
    'require-signature': { type: 'boolean', default: false },
  },
})

// Far above any numbered volume of a test.
const firstForeignNumber = 2 ** 40

const fake = await Ec2Fake.start({
  port: Number(flags.port),
  host: flags.host,
  region: flags.region,
  latencyMs: Number(flags['latency-ms']),
  buckets: flags.buckets,
  requireSignature: flags['require-signature'],
})
fake.extraRoute = controlRoute(fake)
fake.adoptUnknownVolumes(flags['adopt-unknown'])
addNumberedVolumes(fake, Number(flags.volumes))
addNumberedVolumes(fake, Number(flags['foreign-volumes']), firstForeignNumber)

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void fake.close())
console.log(`EC2 fake listens on ${fake.url}`)
