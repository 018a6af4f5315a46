import type { DiskRef } from './disk.ts'

/** The CSI driver whose handles are ARM ids of managed disks. Those of Azure Files and Blob name shares and containers. */
export const azureDiskDrivers: ReadonlySet<string> = new Set(['disk.csi.azure.com'])

/** A managed disk by its ARM id. All three are in lower case, since ARM tells no two names apart by case alone. */
export interface AzureDiskName {
  readonly subscription: string
  readonly resourceGroup: string
  readonly name: string
}

/** Assignable to `DiskLookup`. */
export type AzureDiskLookup =
  | { readonly kind: 'disk'; readonly disk: DiskRef }
  | {
      readonly kind: 'not-a-disk'
      readonly reason: 'unsupported-volume' | 'malformed-handle'
      readonly detail: string
    }

// The driver's own pattern takes anything between the slashes. Tags can be put on any ARM resource by its id, so nothing
// but a disk's may pass: names as ARM's naming rules have them, and none that a URL would read as a step upwards.
const subscription = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const resourceGroup = String.raw`[\p{L}\p{N}_.()-]{0,89}[\p{L}\p{N}_()-]`
const diskName = String.raw`[a-z0-9_][a-z0-9_.-]{0,79}`
const diskId = new RegExp(
  `^/subscriptions/(${subscription})/resourceGroups/(${resourceGroup})/providers/Microsoft\\.Compute/disks/(${diskName})$`,
  'iu',
)

/** Unmanaged disks (`kind: Dedicated` or `Shared`): a blob of a storage account, no resource of its own. */
const blobUri = /^https?:\/\//i

/** How much of a handle that nobody understands is shown. */
const detailLengthMax = 128

/** Undefined where it is no managed disk's ARM id; case does not matter. */
export function azureDiskNameOf(id: string): AzureDiskName | undefined {
  const [, subscription, resourceGroup, name] = diskId.exec(id) ?? []
  if (subscription === undefined || resourceGroup === undefined || name === undefined) return undefined
  return { subscription: lower(subscription), resourceGroup: lower(resourceGroup), name: lower(name) }
}

/** The one spelling of a disk's ARM id that the product uses: in lower case, as records, caches and logs have it. */
export function azureDiskIdOf(handle: string): string | undefined {
  const disk = azureDiskNameOf(handle)
  if (disk === undefined) return undefined
  const { subscription, resourceGroup, name } = disk
  return `/subscriptions/${subscription}/resourcegroups/${resourceGroup}/providers/microsoft.compute/disks/${name}`
}

/** By driver first and handle second: a Files handle names a VHD too, and it is no disk. */
export function azureDiskOfCsi(driver: string, handle: string): AzureDiskLookup {
  return azureDiskDrivers.has(driver) ? diskOf(handle) : unsupported(driver)
}

/** From `spec.azureDisk.diskURI` of a volume that was made in-tree. */
export function azureDiskOfUri(diskUri: string): AzureDiskLookup {
  if (blobUri.test(diskUri)) return unsupported('azureDisk with an unmanaged disk (a VHD blob)')
  return diskOf(diskUri)
}

function diskOf(handle: string): AzureDiskLookup {
  const id = azureDiskIdOf(handle)
  if (id === undefined) {
    return { kind: 'not-a-disk', reason: 'malformed-handle', detail: handle.slice(0, detailLengthMax) }
  }
  return { kind: 'disk', disk: { id } }
}

function unsupported(detail: string): AzureDiskLookup {
  return { kind: 'not-a-disk', reason: 'unsupported-volume', detail }
}

/** ASCII only: beyond it, what is one letter in two cases is not the same for ARM and for JavaScript. */
function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
