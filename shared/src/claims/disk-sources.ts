import { azureDiskOfCsi, azureDiskOfUri } from './azure-disk.ts'
import { lookUpGcpDisk } from './gcp-disk.ts'
import { ebsDrivers, ebsVolumeIdOf } from './ebs-volume.ts'
import type { DiskRef } from './disk.ts'
import type { Volume, VolumeSource } from './volume.ts'

export type Cloud = 'mock' | 'aws' | 'gcp' | 'azure'

export type NotADisk =
  /** The driver or source is none of this cloud's disks: EFS, NFS, hostPath, another cloud's disk. */
  | 'unsupported-volume'
  /** The driver is right and its handle is no disk id of this cloud. */
  | 'malformed-handle'

export type DiskLookup =
  | { readonly kind: 'disk'; readonly disk: DiskRef }
  | { readonly kind: 'not-a-disk'; readonly reason: NotADisk; readonly detail: string }

/**
 * Decided by the volume's own source alone: a claim's provisioner annotation is optional and differs on migrated and
 * static volumes. By driver first and handle second, since EFS and FSx handles look alike.
 */
const lookups: Readonly<Record<Cloud, (source: VolumeSource, volume: Volume) => DiskLookup>> = {
  aws: lookUpEbsVolume,
  gcp: lookUpGoogleDisk,
  azure: lookUpAzureDisk,
  mock: anyVolume,
}

export function diskOfVolume(volume: Volume, cloud: Cloud): DiskLookup {
  return lookups[cloud](volume.source, volume)
}

function lookUpEbsVolume(source: VolumeSource): DiskLookup {
  switch (source.kind) {
    case 'csi':
      return ebsDrivers.has(source.driver) ? ebsDisk(source.handle) : unsupported(source)
    case 'awsElasticBlockStore':
      return ebsDisk(source.volumeId)
    case 'azureDisk':
    case 'gcePersistentDisk':
    case 'other':
      return unsupported(source)
    default:
      return source satisfies never
  }
}

function ebsDisk(handle: string): DiskLookup {
  const id = ebsVolumeIdOf(handle)
  if (id === undefined) return { kind: 'not-a-disk', reason: 'malformed-handle', detail: handle.slice(0, 128) }
  return { kind: 'disk', disk: { id } }
}

function lookUpAzureDisk(source: VolumeSource): DiskLookup {
  switch (source.kind) {
    case 'csi':
      return azureDiskOfCsi(source.driver, source.handle)
    case 'azureDisk':
      return azureDiskOfUri(source.diskUri)
    case 'awsElasticBlockStore':
    case 'gcePersistentDisk':
    case 'other':
      return unsupported(source)
    default:
      return source satisfies never
  }
}

function lookUpGoogleDisk(source: VolumeSource, { zones }: Volume): DiskLookup {
  switch (source.kind) {
    case 'csi':
    case 'gcePersistentDisk':
      return lookUpGcpDisk(source, zones)
    case 'awsElasticBlockStore':
    case 'azureDisk':
    case 'other':
      return unsupported(source)
    default:
      return source satisfies never
  }
}

/** `cloudProvider: mock` has tagged every bound volume since the first tool, so demos need no cloud driver. */
function anyVolume(source: VolumeSource, volume: Volume): DiskLookup {
  switch (source.kind) {
    case 'csi':
      return { kind: 'disk', disk: { id: source.handle } }
    case 'awsElasticBlockStore':
      return { kind: 'disk', disk: { id: source.volumeId } }
    case 'azureDisk':
      return { kind: 'disk', disk: { id: source.diskUri } }
    case 'gcePersistentDisk':
      return { kind: 'disk', disk: { id: source.pdName } }
    case 'other':
      return { kind: 'disk', disk: { id: source.detail ?? `${source.type}/${volume.name}` } }
    default:
      return source satisfies never
  }
}

function unsupported(source: VolumeSource): DiskLookup {
  return { kind: 'not-a-disk', reason: 'unsupported-volume', detail: sourceName(source) }
}

function sourceName(source: VolumeSource): string {
  if (source.kind === 'csi') return source.driver
  return source.kind === 'other' ? source.type : source.kind
}
