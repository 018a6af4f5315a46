import path from 'node:path'
import { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { ensureBinaries } from '../binaries.ts'
import { startCertManager } from '../cert-manager.ts'
import type { Cluster } from '../cluster.ts'
import { useExistingCluster } from '../existing-cluster.ts'
import { ManagedProcess } from '../managed-process.ts'
import { freePorts } from '../ports.ts'
import { gp3, startProvisioner } from '../volumes.ts'
import { Parts } from './parts.ts'
import { region, writeValues } from './values.ts'
import type { Address, TestBed } from './test-bed.ts'

/**
 * A cluster that somebody else runs, such as kind, whose nodes have the image already. Volumes are only made to look like
 * EBS: no pod can mount one.
 */
export async function useExistingBed(options: {
  readonly dir: string
  readonly kubeconfigPath: string
  /** This machine, as the cluster's pods reach it. */
  readonly host: string
}): Promise<TestBed> {
  const { dir, host, kubeconfigPath } = options
  const parts = new Parts()
  try {
    const cluster = parts.add(await useExistingCluster({ kubeconfigPath, webhookHost: host }))
    // What it has already is taken as it is.
    if (!(await hasCertManager(cluster))) parts.add(await startCertManager(cluster, { dir }))
    const ec2 = await Ec2Fake.start({ host: '0.0.0.0', region })
    parts.add({ stop: () => ec2.close() })
    ec2.adoptUnknownVolumes(true)
    const storageClass = { ...gp3, metadata: { name: 'k8s-cloud-tagger-e2e' } }
    await cluster.kube.apply(storageClass)
    parts.add({ stop: () => cluster.kube.storageClasses.delete(storageClass) })
    parts.add(startProvisioner(cluster.kube))
    const forwards = parts.add(new PortForwards(cluster, dir))
    return {
      cluster,
      ec2,
      storageClassName: storageClass.metadata.name,
      mountsVolumes: false,
      valuesFile: await writeValues(dir, { ec2, host }),
      addressOf: (service) => forwards.addressOf(service),
      stop: () => parts.stop(),
    }
  } catch (error) {
    await parts.stop()
    throw error
  }
}

async function hasCertManager({ kube }: Cluster): Promise<boolean> {
  return kube.client.call('GET', '/apis/cert-manager.io/v1').then(
    () => true,
    () => false,
  )
}

/** A Service of the cluster on a port of this machine, through one of its pods; one at a time. */
class PortForwards {
  readonly #cluster: Cluster
  readonly #dir: string
  #process: ManagedProcess | undefined

  constructor(cluster: Cluster, dir: string) {
    this.#cluster = cluster
    this.#dir = dir
  }

  async addressOf({ name, namespace }: { readonly namespace: string; readonly name: string }): Promise<Address> {
    // The pod behind the last one may be gone by now.
    await this.stop()
    const { kubectl } = await ensureBinaries(['kubectl'])
    const [port = 0] = await freePorts(1)
    const process = await ManagedProcess.start({
      name: `port-forward ${name}`,
      command: kubectl,
      args: [
        `--kubeconfig=${this.#cluster.kubeconfigPath}`,
        'port-forward',
        `--namespace=${namespace}`,
        `service/${name}`,
        `${port}:443`,
      ],
      logFile: path.join(this.#dir, `port-forward-${port}.log`),
    })
    this.#process = process
    await process.log.waitForLine('Forwarding from 127.0.0.1')
    return { host: '127.0.0.1', port }
  }

  async stop(): Promise<void> {
    await this.#process?.kill()
  }
}
