import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import addresses from '../../../tools/release/addresses.json' with { type: 'json' }
import packageJson from '../../../package.json' with { type: 'json' }
import { buildImage } from '../../../tools/image/build.ts'
import { archiveOf } from '../../../tools/image/oci.ts'
import { ensureBinaries } from '../binaries.ts'
import { startCertManager } from '../cert-manager.ts'
import type { KubeObject, StorageClass, Stored } from '../kube-objects.ts'
import { startNodeCluster } from '../node-cluster/node-cluster.ts'
import { writePauseImage } from '../node-cluster/pause-image.ts'
import { gp3 } from '../volumes.ts'
import { Parts } from './parts.ts'
import { region, writeValues } from './values.ts'
import type { TestBed } from './test-bed.ts'

/** As EKS users have it: the volume is made when a pod wants it. */
const onDemand: StorageClass = { ...gp3, volumeBindingMode: 'WaitForFirstConsumer' }

/** Real pods from the product's image, on a node of this machine. */
export async function startNodeBed({ dir }: { readonly dir: string }): Promise<TestBed> {
  const parts = new Parts()
  try {
    const images = await writeImages(path.join(dir, 'images'))
    const cluster = parts.add(await startNodeCluster({ dir, images, report: console.log }))
    parts.add(await startCertManager(cluster, { dir }))
    const { hostAddress } = cluster.network
    const ec2 = await Ec2Fake.start({ host: hostAddress, region })
    parts.add({ stop: () => ec2.close() })
    // The CSI driver makes volumes without telling the fake.
    ec2.adoptUnknownVolumes(true)
    await cluster.kube.apply(onDemand)
    const services = cluster.kube.resourceOf('Service')
    return {
      cluster,
      ec2,
      storageClassName: gp3.metadata.name,
      mountsVolumes: true,
      valuesFile: await writeValues(dir, { ec2, host: hostAddress }),
      async addressOf(service) {
        const { spec } = (await services.get(service)) as Stored<KubeObject> & {
          readonly spec: { readonly clusterIP: string; readonly ports: readonly { readonly port: number }[] }
        }
        return { host: spec.clusterIP, port: spec.ports[0]?.port ?? 443 }
      },
      stop: () => parts.stop(),
    }
  } catch (error) {
    await parts.stop()
    throw error
  }
}

async function writeImages(folder: string): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  const [product, pause] = [path.join(folder, 'k8s-cloud-tagger.tar'), path.join(folder, 'pause.tar')]
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const image = await buildImage({ architecture, createdSeconds: 0 })
  // By the name that the chart uses: nothing has to be said about it.
  await writeFile(product, archiveOf(image, `${addresses.image}:${packageJson.version}`))
  await writePauseImage(pause, await ensureBinaries(['pause']))
  return [pause, product]
}
