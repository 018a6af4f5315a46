import { ebsVolumeIdOf } from '@k8s-cloud-tagger/shared/claims/ebs-volume.ts'
import { childOf, stringOf } from '@k8s-cloud-tagger/shared/testing/kubernetes/objects.ts'
import { KubeClient, KubeStatusError } from '../../src/kube-client.ts'
import type { World } from '../world/world.ts'
import { createStorageClass } from '../world/world.ts'
import { freshClaim, freshVolume } from './fresh-copies.ts'
import type { OwnObject, OwnObjects } from './own-objects.ts'

const ebsDriver = 'ebs.csi.aws.com'
const defaultMark = 'storageclass.kubernetes.io/is-default-class'
const provisionerAnnotations = [
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
]

/** Namespaces and classes: what has to be there before claims can be. */
export async function prepareCluster({ kubernetes }: World, objects: OwnObjects): Promise<void> {
  const { namespaces, claims, storageClasses } = objects
  for (const { name, metadata } of namespaces) {
    if (kubernetes.get('namespaces', name) === undefined) await kubernetes.createNamespace(name, metadata.labels)
  }
  for (const name of new Set(claims.map(({ namespace }) => namespace))) {
    if (kubernetes.get('namespaces', name) === undefined) await kubernetes.createNamespace(name)
  }
  const isDefault = (one: OwnObject) => one.metadata.annotations[defaultMark] === 'true'
  const names = new Set([...storageClasses.map(({ name }) => name), ...claims.flatMap((claim) => classOf(claim) ?? [])])
  if (!storageClasses.some(isDefault)) names.add('gp3')
  for (const name of names) {
    const given = storageClasses.find((one) => one.name === name)
    await createStorageClass(kubernetes, name, {
      provisioner: given?.provisioner ?? provisionerSeen(name, claims) ?? ebsDriver,
      isDefault: given === undefined ? name === 'gp3' && !storageClasses.some(isDefault) : isDefault(given),
    })
  }
}

/** What the API server has against these objects, each with its place; they are not stored. */
export async function refusals({ kubernetes }: World, { claims, volumes }: OwnObjects): Promise<readonly string[]> {
  const token = kubernetes.users.tokenOf('admin')
  const client = new KubeClient({ url: kubernetes.url, caPem: kubernetes.caCertificate, token })
  const problems: string[] = []
  const tryOut = async (object: OwnObject, path: string, body: object) => {
    try {
      await client.call('POST', path, { body, query: { dryRun: 'All' } })
    } catch (error) {
      if (!(error instanceof KubeStatusError)) throw error
      // The call's own path says nothing to whoever wrote the file.
      problems.push(`${object.where}: ${error.message.replace(/^POST \S+ /u, '')}`)
    }
  }
  for (const volume of volumes) await tryOut(volume, '/api/v1/persistentvolumes', freshVolume(volume, claims))
  for (const claim of claims) {
    const path = `/api/v1/namespaces/${claim.namespace}/persistentvolumeclaims`
    await tryOut(claim, path, freshClaim(claim, volumes))
  }
  client.close()
  return problems
}

/** Creates the volumes with their disks, then the claims. */
export async function createAll({ kubernetes, cloud }: World, { claims, volumes }: OwnObjects): Promise<void> {
  for (const volume of volumes) {
    const disk = ebsDiskOf(volume)
    if (disk !== undefined && !cloud.hasVolume(disk)) cloud.addVolume(disk)
    await kubernetes.create('persistentvolumes', freshVolume(volume, claims))
  }
  for (const claim of claims) {
    await kubernetes.create('persistentvolumeclaims', freshClaim(claim, volumes), claim.namespace)
  }
}

function ebsDiskOf({ spec }: OwnObject): string | undefined {
  const inTree = stringOf(childOf(spec, 'awsElasticBlockStore'), 'volumeID')
  const handle = stringOf(childOf(spec, 'csi'), 'volumeHandle') ?? inTree
  return handle === undefined ? undefined : ebsVolumeIdOf(handle)
}

function classOf({ spec }: OwnObject): string | undefined {
  return stringOf(spec, 'storageClassName')
}

/** Claims that were read from a cluster tell what made their volumes. */
function provisionerSeen(className: string, claims: readonly OwnObject[]): string | undefined {
  for (const { metadata } of claims.filter((claim) => classOf(claim) === className)) {
    for (const annotation of provisionerAnnotations) {
      const provisioner = metadata.annotations[annotation]
      if (provisioner !== undefined) return provisioner
    }
  }
  return undefined
}
