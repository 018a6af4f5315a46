import { randomUUID } from 'node:crypto'
import { bindCompleted } from './binding.ts'
import type { KubeObject, NewObject } from './objects.ts'

export interface ClaimSpec {
  readonly name: string
  /** Default `default`; created when missing. */
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  /** Default the empty class: no provisioner, static volumes only. */
  readonly storageClassName?: string
  readonly volumeName?: string
  /** Default 1Gi. */
  readonly size?: string
}

export interface VolumeSpec {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly storageClassName?: string
  readonly size?: string
  /** Default Retain. */
  readonly reclaimPolicy?: 'Retain' | 'Delete'
  /** Keeps the volume for this claim; a uid makes it that claim's only. */
  readonly claimRef?: { readonly namespace: string; readonly name: string; readonly uid?: string }
  /** The volume source by its field in `spec`. Default a CSI volume of ebs.csi.aws.com with `handle`. */
  readonly source?: Readonly<Record<string, unknown>>
  /** Default a made-up one. */
  readonly handle?: string
}

export function claimBody(claim: ClaimSpec): NewObject {
  return {
    metadata: {
      name: claim.name,
      ...(claim.labels === undefined ? {} : { labels: { ...claim.labels } }),
      ...(claim.annotations === undefined ? {} : { annotations: { ...claim.annotations } }),
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: claim.size ?? '1Gi' } },
      storageClassName: claim.storageClassName ?? '',
      ...(claim.volumeName === undefined ? {} : { volumeName: claim.volumeName }),
    },
  }
}

export function volumeBody(volume: VolumeSpec): NewObject {
  const handle = volume.handle ?? `vol-0${randomUUID().replaceAll('-', '').slice(0, 16)}`
  return {
    metadata: {
      name: volume.name,
      ...(volume.labels === undefined ? {} : { labels: { ...volume.labels } }),
      ...(volume.annotations === undefined ? {} : { annotations: { ...volume.annotations } }),
    },
    spec: {
      capacity: { storage: volume.size ?? '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: volume.reclaimPolicy ?? 'Retain',
      storageClassName: volume.storageClassName ?? '',
      ...(volume.claimRef === undefined ? {} : { claimRef: { ...volume.claimRef } }),
      ...(volume.source ?? { csi: { driver: 'ebs.csi.aws.com', volumeHandle: handle } }),
    },
  }
}

/** A claim and its provisioned volume as they look long after the binding. */
export function boundPair(
  claim: ClaimSpec,
  handle: string,
  createdAt: string,
): { claim: KubeObject; volume: KubeObject } {
  const namespace = claim.namespace ?? 'default'
  const uid = randomUUID()
  const volumeName = claim.volumeName ?? `pvc-${uid}`
  const provisioned = { 'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com' }
  const claimRef = { namespace, name: claim.name, uid }
  const claimFields = claimBody({ ...claim, annotations: { ...claim.annotations, [bindCompleted]: 'yes' }, volumeName })
  const volumeFields = volumeBody({
    name: volumeName,
    annotations: provisioned,
    handle,
    claimRef,
    reclaimPolicy: 'Delete',
  })
  const system = { resourceVersion: '', creationTimestamp: createdAt }
  return {
    claim: {
      ...claimFields,
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: { ...claimFields.metadata, ...system, name: claim.name, namespace, uid },
      status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: claim.size ?? '1Gi' } },
    },
    volume: {
      ...volumeFields,
      kind: 'PersistentVolume',
      apiVersion: 'v1',
      metadata: { ...volumeFields.metadata, ...system, name: volumeName, uid: randomUUID() },
      status: { phase: 'Bound' },
    },
  }
}
