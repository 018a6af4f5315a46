import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { stringify } from 'yaml'
import { startCertManager } from '../cert-manager.ts'
import { startControlPlane } from '../control-plane.ts'
import { gp3, startProvisioner } from '../volumes.ts'
import { Parts } from './parts.ts'
import { ProcessPods } from './process-pods.ts'
import { ServiceTunnel } from './service-tunnel.ts'
import { region, writeValues } from './values.ts'
import type { TestBed } from './test-bed.ts'

/**
 * A control plane with every controller and without a node. The API server sends its calls to Services through a tunnel,
 * as managed control planes do, and at its end stand the processes that play the webhook's pods.
 */
export async function startProcessBed({ dir }: { readonly dir: string }): Promise<TestBed> {
  const parts = new Parts()
  try {
    await mkdir(dir, { recursive: true })
    const socket = path.join(dir, 'services.sock')
    const cluster = parts.add(
      await startControlPlane({
        dir,
        kcmQps: 500,
        kcmBurst: 1000,
        kcmArgs: ['--controllers=*'],
        apiserverArgs: [`--egress-selector-config-file=${await writeEgress(dir, socket)}`],
      }),
    )
    const pods = parts.add(new ProcessPods(cluster, { dir }))
    parts.add(await ServiceTunnel.start({ socket, backends: () => pods.webhookPorts() }))
    parts.add(await startCertManager(cluster, { dir }))
    const ec2 = await Ec2Fake.start({ region })
    parts.add({ stop: () => ec2.close() })
    ec2.adoptUnknownVolumes(true)
    await cluster.kube.apply(gp3)
    parts.add(startProvisioner(cluster.kube))
    return {
      cluster,
      ec2,
      storageClassName: gp3.metadata.name,
      mountsVolumes: true,
      valuesFile: await writeValues(dir, { ec2, host: '127.0.0.1' }),
      async addressOf() {
        return { host: '127.0.0.1', port: pods.webhookPorts()[0] ?? 0 }
      },
      stop: () => parts.stop(),
    }
  } catch (error) {
    await parts.stop()
    throw error
  }
}

async function writeEgress(dir: string, udsName: string): Promise<string> {
  const file = path.join(dir, 'egress.yaml')
  const connection = { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName } } }
  const selection = {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'cluster', connection }],
  }
  await writeFile(file, stringify(selection))
  return file
}
