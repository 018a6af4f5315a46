import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureBinaries, goModFile } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { runCommand } from './commands.ts'
import { ManagedProcess } from './managed-process.ts'

export const certManagerBinaries = ['kubectl', 'cert-manager-controller', 'cert-manager-cainjector'] as const

export interface CertManager {
  stop(): Promise<void>
}

/**
 * cert-manager's controllers and its CA injector as processes beside a cluster, its CRDs in it. Its own webhook, which
 * only checks what users write, is left out. `dir` gets the logs.
 */
export async function startCertManager(cluster: Cluster, { dir }: { readonly dir: string }): Promise<CertManager> {
  const binaries = await ensureBinaries(certManagerBinaries)
  const kubeconfig = `--kubeconfig=${cluster.kubeconfigPath}`
  await runCommand(binaries.kubectl, [kubeconfig, 'apply', '--server-side', `--filename=${await definitionsFolder()}`])
  await untilEstablished(cluster)
  await mkdir(dir, { recursive: true })
  const start = (name: (typeof certManagerBinaries)[number], ...args: readonly string[]) =>
    ManagedProcess.start({
      name,
      command: binaries[name],
      args: [kubeconfig, '--leader-elect=false', '--metrics-listen-address=0', '-v=2', ...args],
      logFile: path.join(dir, `${name}.log`),
    })
  const processes = [
    await start('cert-manager-controller', '--healthz-listen-address=0', '--cluster-resource-namespace=cert-manager'),
    await start('cert-manager-cainjector'),
  ]
  return {
    async stop() {
      await Promise.all(processes.map((process) => process.kill()))
    },
  }
}

/** The module brings the CRDs that its controllers want. */
async function definitionsFolder(): Promise<string> {
  const cwd = path.dirname(goModFile('certmanager'))
  const module = 'github.com/cert-manager/cert-manager'
  const { stdout } = await runCommand('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd })
  return path.join(stdout.trim(), 'deploy', 'crds')
}

async function untilEstablished({ kube }: Cluster): Promise<void> {
  const paths = ['certificates', 'certificaterequests', 'issuers', 'clusterissuers']
  for (let tries = 0; tries < 300; tries++) {
    const answers = paths.map((plural) => kube.client.call('GET', `/apis/cert-manager.io/v1/${plural}`))
    const settled = await Promise.allSettled(answers)
    if (settled.every(({ status }) => status === 'fulfilled')) return
    await sleep(100)
  }
  throw new Error('The API server does not serve cert-manager.io/v1 after 30 seconds')
}
