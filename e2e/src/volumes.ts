import { createHash } from 'node:crypto'
import type { Kube } from './kube.ts'
import { KubeStatusError } from './kube-client.ts'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass, Stored } from './kube-objects.ts'

export const ebsDriver = 'ebs.csi.aws.com'
export const provisionedByAnnotation = 'pv.kubernetes.io/provisioned-by'
const waitingForProvisionerAnnotation = 'volume.kubernetes.io/storage-provisioner'

/** The class whose provisioner is `provisionVolume` or `startProvisioner` below. */
export const gp3: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'gp3' },
  provisioner: ebsDriver,
  parameters: { type: 'gp3' },
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  allowVolumeExpansion: true,
}

/** The class of volumes that an administrator makes by hand. */
export const byHand: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'by-hand' },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'Immediate',
}

export interface ClaimOptions {
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly storageClassName?: string
  readonly volumeName?: string
}

export function newClaim(name: string, options: ClaimOptions = {}): PersistentVolumeClaim {
  const { namespace = 'default', labels = {}, annotations = {}, storageClassName = 'gp3', volumeName } = options
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace, labels, annotations },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName,
      ...(volumeName !== undefined && { volumeName }),
    },
  }
}

/** A volume id as EC2 makes them: stable for a seed, so that a test knows it beforehand. */
export function ebsVolumeId(seed: string): string {
  return `vol-${createHash('sha256').update(seed).digest('hex').slice(0, 17)}`
}

export interface VolumeOptions {
  readonly driver?: string
  /** Default an EBS id made of the claim's uid, or of the name. */
  readonly volumeHandle?: string
  readonly reclaimPolicy?: 'Delete' | 'Retain'
}

/** A volume as the external provisioner writes it for this claim, ready for the volume controller to bind. */
export function provisionedVolume(claim: Stored<PersistentVolumeClaim>, options: VolumeOptions = {}): PersistentVolume {
  const { uid, name, resourceVersion, namespace = 'default' } = claim.metadata
  const { driver = ebsDriver, volumeHandle = ebsVolumeId(uid), reclaimPolicy = 'Delete' } = options
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pvc-${uid}`, annotations: { [provisionedByAnnotation]: driver } },
    spec: {
      accessModes: claim.spec.accessModes,
      capacity: { storage: claim.spec.resources.requests.storage },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion },
      csi: {
        driver,
        fsType: 'ext4',
        volumeAttributes: { 'storage.kubernetes.io/csiProvisionerIdentity': `1-1-${driver}` },
        volumeHandle,
      },
      persistentVolumeReclaimPolicy: reclaimPolicy,
      volumeMode: 'Filesystem',
      ...(claim.spec.storageClassName !== undefined && { storageClassName: claim.spec.storageClassName }),
    },
  }
}

/** A volume that an administrator wrote; any claim of its class may bind to it, or only `claim`, by name. */
export function volumeByHand(
  name: string,
  options: VolumeOptions & { readonly claim?: { readonly namespace: string; readonly name: string } } = {},
): PersistentVolume {
  const { driver = ebsDriver, volumeHandle = ebsVolumeId(name), reclaimPolicy = 'Retain', claim } = options
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      csi: { driver, volumeHandle },
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: byHand.metadata.name,
      ...(claim !== undefined && { claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...claim } }),
    },
  }
}

/**
 * Does what the external provisioner does for one claim: waits until the volume controller calls it by an annotation,
 * then writes the volume. The volume controller binds it; see `Kube.waitUntilBound`.
 */
export async function provisionVolume(
  kube: Kube,
  claim: Stored<PersistentVolumeClaim>,
  options: VolumeOptions = {},
): Promise<Stored<PersistentVolume>> {
  const { driver = ebsDriver } = options
  const called = await kube.claims.waitFor(claim, `ask for a volume of ${driver}`, (seen) => isWaitingFor(seen, driver))
  return kube.volumes.create(provisionedVolume(called, options))
}

/** Creates the claim, provisions its volume and waits until both are bound. */
export async function boundClaim(
  kube: Kube,
  name: string,
  options: ClaimOptions & VolumeOptions = {},
): Promise<{ readonly claim: Stored<PersistentVolumeClaim>; readonly volume: Stored<PersistentVolume> }> {
  const created = await kube.claims.create(newClaim(name, options))
  const volume = await provisionVolume(kube, created, options)
  return { claim: await kube.waitUntilBound(created), volume }
}

/** Provisions a volume for every claim of class gp3, as it comes, until it is stopped. */
export function startProvisioner(
  kube: Kube,
  options: { readonly namespace?: string; readonly volume?: VolumeOptions } = {},
): { readonly provisioned: ReadonlyMap<string, string>; stop(): Promise<void> } {
  const ending = new AbortController()
  /** Volume handles by claim uid. */
  const provisioned = new Map<string, string>()

  const provision = async (claim: Stored<PersistentVolumeClaim>) => {
    const { uid } = claim.metadata
    if (provisioned.has(uid) || !isWaitingFor(claim, options.volume?.driver ?? ebsDriver)) return
    const volume = provisionedVolume(claim, options.volume)
    provisioned.set(uid, volume.spec.csi?.volumeHandle ?? '')
    try {
      await kube.volumes.create(volume)
    } catch (error) {
      // Another run of this provisioner was quicker.
      if (!(error instanceof KubeStatusError && error.status === 409)) throw error
    }
  }
  const run = async () => {
    const pending = new Set<Promise<void>>()
    while (!ending.signal.aborted) {
      for await (const event of kube.claims.watch(options.namespace, { signal: ending.signal })) {
        if (event.type === 'DELETED') continue
        const work = provision(event.object).finally(() => pending.delete(work))
        pending.add(work)
      }
    }
    await Promise.all(pending)
  }
  const running = run()
  // A fault is told by stop(); until then it must not end the process as an unhandled rejection.
  running.catch(() => {})
  return {
    provisioned,
    async stop() {
      ending.abort()
      await running
    },
  }
}

function isWaitingFor({ metadata, spec }: Stored<PersistentVolumeClaim>, driver: string): boolean {
  const isWaiting = spec.volumeName === undefined && metadata.deletionTimestamp === undefined
  return isWaiting && metadata.annotations?.[waitingForProvisionerAnnotation] === driver
}
