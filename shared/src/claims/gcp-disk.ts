/** The CSI driver of Google's Persistent Disks and Hyperdisks. */
const persistentDiskDriver = 'pd.csi.storage.gke.io'

/** What handles of volumes that were migrated from the in-tree source say for what that source did not know. */
export const unspecified = 'UNSPECIFIED'
/** One volume over disks of the same name in several zones, each labelled `goog-gke-multi-zone`: no single disk. */
const multiZone = 'multi-zone'

/** The fields of a volume that say which Google disk it is. */
export type GcpVolumeSource =
  | { readonly kind: 'csi'; readonly driver: string; readonly handle: string }
  | { readonly kind: 'gcePersistentDisk'; readonly pdName: string }

/** A subset of `DiskLookup`. */
export type GcpDiskLookup =
  | { readonly kind: 'disk'; readonly disk: { readonly id: string } }
  | {
      readonly kind: 'not-a-disk'
      readonly reason: 'unsupported-volume' | 'malformed-handle'
      readonly detail: string
    }

export interface GcpPlace {
  /** A regional disk lives in two zones of its region. */
  readonly kind: 'zone' | 'region'
  readonly name: string
}

export interface GcpDiskName {
  /** May be `unspecified`: then the installation's own. */
  readonly project: string
  readonly place: GcpPlace
  readonly disk: string
}

/** One requirement of a node selector term, as in `spec.nodeAffinity.required.nodeSelectorTerms[].matchExpressions[]`. */
export interface NodeRequirement {
  readonly key: string
  readonly operator: string
  readonly values: readonly string[]
}

// Google's own patterns, from the API's discovery document. A project may be given by number, and bear a domain.
const project =
  /^(?:(?:[-a-z0-9]{1,63}\.)*[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?:)?(?:[0-9]{1,19}|[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)$/
const resourceName = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/

const path = /^projects\/([^/]+)\/(zones|regions)\/([^/]+)\/disks\/([^/]+)$/

/**
 * Which disk a volume is. `zones` are those that the volume itself names (`zonesNamed`); they are needed where the
 * source knows none. Two zones, of one region, mean a regional disk.
 */
export function lookUpGcpDisk(source: GcpVolumeSource, zones: readonly string[]): GcpDiskLookup {
  switch (source.kind) {
    case 'csi':
      return source.driver === persistentDiskDriver
        ? lookUpHandle(source.handle, zones)
        : refusal('unsupported-volume', source.driver)
    case 'gcePersistentDisk':
      return lookUpByName(source.pdName, zones)
    default:
      return source satisfies never
  }
}

/**
 * The zones that a volume names: by its labels, which the in-tree source is resolved by, else by its node affinity.
 * `terms` are the alternatives of the required affinity, each with its requirements.
 */
export function zonesNamed(
  labels: Readonly<Record<string, string>>,
  terms: readonly (readonly NodeRequirement[])[],
): readonly string[] {
  const label = labels['failure-domain.beta.kubernetes.io/zone'] ?? labels['topology.kubernetes.io/zone']
  if (label !== undefined && label !== '') return label.split('__')
  const values = terms
    .flat()
    .filter(({ key, operator }) => operator === 'In' && zoneKeys.has(key))
    .flatMap((requirement) => requirement.values)
  return [...new Set(values)]
}

const zoneKeys: ReadonlySet<string> = new Set([
  'topology.gke.io/zone',
  'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/zone',
])

export function gcpDiskId({ disk, place, project }: GcpDiskName): string {
  return `projects/${project}/${place.kind}s/${place.name}/disks/${disk}`
}

/** Undefined for anything but exactly one disk's id: nothing else may reach the API. */
export function parseGcpDiskId(id: string): GcpDiskName | undefined {
  const [, projectName = '', kind, place = '', disk = ''] = path.exec(id) ?? []
  if (projectName !== unspecified && !project.test(projectName)) return undefined
  if (!resourceName.test(place) || place === multiZone || !resourceName.test(disk)) return undefined
  return { project: projectName, place: { kind: kind === 'regions' ? 'region' : 'zone', name: place }, disk }
}

function lookUpHandle(handle: string, zones: readonly string[]): GcpDiskLookup {
  const [, projectName = '', kind, place, disk = ''] = path.exec(handle) ?? []
  if (kind === 'zones' && place === multiZone) return refusal('unsupported-volume', handle)
  if (kind === 'zones' && place === unspecified) {
    const [zone, ...others] = zones
    if (zone === undefined || others.length > 0) return refusal('malformed-handle', handle)
    return diskOf(gcpDiskId({ project: projectName, place: { kind: 'zone', name: zone }, disk }), handle)
  }
  return diskOf(handle, handle)
}

function lookUpByName(disk: string, zones: readonly string[]): GcpDiskLookup {
  const place = placeOf(zones)
  if (place === undefined) return refusal('malformed-handle', disk)
  return diskOf(gcpDiskId({ project: unspecified, place, disk }), disk)
}

function placeOf([zone, second, ...others]: readonly string[]): GcpPlace | undefined {
  if (zone === undefined || others.length > 0) return undefined
  if (second === undefined) return { kind: 'zone', name: zone }
  const region = regionOf(zone)
  return region === '' || regionOf(second) !== region ? undefined : { kind: 'region', name: region }
}

function regionOf(zone: string): string {
  return zone.slice(0, Math.max(0, zone.lastIndexOf('-')))
}

function diskOf(id: string, detail: string): GcpDiskLookup {
  return parseGcpDiskId(id) === undefined ? refusal('malformed-handle', detail) : { kind: 'disk', disk: { id } }
}

function refusal(reason: 'unsupported-volume' | 'malformed-handle', detail: string): GcpDiskLookup {
  return { kind: 'not-a-disk', reason, detail: detail.slice(0, 128) }
}
