// The embedded API server as a process of its own, for demos and for trying it with kubectl:
//
//   node shared/testing/kubernetes/serve.ts [--port 0] [--folder <for kubeconfig files>] [--user <name>]...
//        [--service <namespace>/<name>=<port>]... [--claims 0] [--provision] [--no-volume-controller]
//
// Prints its address and a kubeconfig file a user, then one line when it is ready; ends on SIGTERM or SIGINT.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { EmbeddedKubernetes } from './embedded-kubernetes.ts'

const { values: flags } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    folder: { type: 'string' },
    user: { type: 'string', multiple: true, default: [] },
    service: { type: 'string', multiple: true, default: [] },
    claims: { type: 'string', default: '0' },
    provision: { type: 'boolean', default: false },
    'volume-controller': { type: 'boolean', default: true },
  },
  allowNegative: true,
})

const server = await EmbeddedKubernetes.start({
  port: Number(flags.port),
  ...(flags['volume-controller'] && { volumeController: flags.provision ? { provision: true } : {} }),
})

for (const mapping of flags.service) {
  const [, namespace, name, port] = /^([^/]+)\/([^=]+)=(\d+)$/.exec(mapping) ?? []
  if (namespace === undefined || name === undefined) throw new Error(`not <namespace>/<name>=<port>: ${mapping}`)
  server.mapService(namespace, name, { port: Number(port) })
}
for (let i = 0; i < Number(flags.claims); i++) {
  server.seedBoundClaim(
    { name: `data-${i}`, labels: { app: `app-${i % 50}` } },
    `vol-${i.toString(16).padStart(17, '0')}`,
  )
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void server.stop())

const folder = flags.folder ?? (await mkdtemp(join(tmpdir(), 'embedded-kubernetes-')))
for (const user of ['admin', ...flags.user]) console.log(`${user}: ${await server.kubeconfigFor(user, folder)}`)
console.log(`Embedded Kubernetes listens on ${server.url}`)
