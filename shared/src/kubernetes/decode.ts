import { zonesNamed, type NodeRequirement } from '../claims/gcp-disk.ts'
import { appliedAnnotation, lastAppliedAnnotation } from '../claims/annotations.ts'
import { claimKey } from '../claims/claim-key.ts'
import type { Claim } from '../claims/claim.ts'
import type { NamespaceInfo } from '../claims/namespace.ts'
import type { Volume, VolumeSource } from '../claims/volume.ts'
import { timestampMs } from '../runtime/timestamps.ts'
import { asObject, objectAt, stringAt, type JsonObject } from './json.ts'

/**
 * From the API server's JSON to the few fields we use. Nothing here throws. Only strings that JSON.parse made are kept,
 * and those stand alone (measured: they do not hold the text they came from); a part cut out of one would hold it whole.
 */
export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string }

export type Decode<T> = (object: unknown) => Decoded<T>

export interface ClaimDecodeOptions {
  /** Which annotations to keep, to spare a cache those that no rule reads; default all but kubectl's copy of the object. */
  readonly keepAnnotation?: (key: string) => boolean
}

const provisionedByAnnotation = 'pv.kubernetes.io/provisioned-by'
const storageClassAnnotation = 'volume.beta.kubernetes.io/storage-class'

export function decodeClaim(object: unknown, options: ClaimDecodeOptions = {}): Decoded<Claim> {
  const claim = asObject(object)
  const metadata = objectAt(claim, 'metadata')
  const identity = identityOf(metadata)
  if (typeof identity === 'string') return { ok: false, reason: identity }
  const namespace = stringAt(metadata, 'namespace')
  if (namespace === undefined) return { ok: false, reason: 'metadata.namespace is missing' }

  const spec = objectAt(claim, 'spec')
  const annotations = objectAt(metadata, 'annotations')
  return {
    ok: true,
    value: {
      key: claimKey(namespace, identity.name),
      namespace,
      ...identity,
      labels: stringsOf(objectAt(metadata, 'labels')),
      annotations: stringsOf(annotations, options.keepAnnotation ?? ((key) => key !== lastAppliedAnnotation)),
      volumeName: stringAt(spec, 'volumeName'),
      storageClassName: stringAt(spec, 'storageClassName') ?? stringAt(annotations, storageClassAnnotation),
    },
  }
}

export function decodeVolume(object: unknown): Decoded<Volume> {
  const volume = asObject(object)
  const metadata = objectAt(volume, 'metadata')
  const identity = identityOf(metadata)
  if (typeof identity === 'string') return { ok: false, reason: identity }
  const spec = objectAt(volume, 'spec')
  if (spec === undefined) return { ok: false, reason: 'spec is missing' }

  const annotations = objectAt(metadata, 'annotations')
  return {
    ok: true,
    value: {
      ...identity,
      claimRef: claimRefOf(objectAt(spec, 'claimRef')),
      source: sourceOf(spec),
      zones: zonesOf(metadata, spec),
      provisionedBy: stringAt(annotations, provisionedByAnnotation),
      applied: stringAt(annotations, appliedAnnotation),
    },
  }
}

export function decodeNamespace(object: unknown): Decoded<NamespaceInfo> {
  const metadata = objectAt(asObject(object), 'metadata')
  const identity = identityOf(metadata)
  if (typeof identity === 'string') return { ok: false, reason: identity }
  const { name, uid, resourceVersion, deleting } = identity
  const labels = stringsOf(objectAt(metadata, 'labels'))
  return { ok: true, value: { name, uid, resourceVersion, labels, deleting } }
}

type Identity = Pick<Volume, 'name' | 'uid' | 'resourceVersion' | 'createdAtMs' | 'deleting'>

/** What every stored object has; the reason where this one has not. */
function identityOf(metadata: JsonObject | undefined): Identity | string {
  if (metadata === undefined) return 'metadata is missing'
  const name = stringAt(metadata, 'name')
  const uid = stringAt(metadata, 'uid')
  const resourceVersion = stringAt(metadata, 'resourceVersion')
  if (name === undefined) return 'metadata.name is missing'
  if (uid === undefined) return 'metadata.uid is missing'
  if (resourceVersion === undefined) return 'metadata.resourceVersion is missing'
  const createdAtMs = timestampMs(stringAt(metadata, 'creationTimestamp'))
  if (createdAtMs === undefined) return 'metadata.creationTimestamp is missing'
  return { name, uid, resourceVersion, createdAtMs, deleting: stringAt(metadata, 'deletionTimestamp') !== undefined }
}

/**
 * A copy without a prototype, so that a label called `constructor` or `__proto__` is only ever itself. Made by a spread,
 * which stays compact: built key by key it would take three times the memory.
 */
function stringsOf(map: JsonObject | undefined, keep: (key: string) => boolean = () => true): Record<string, string> {
  if (map === undefined) return noStrings
  const entries = Object.entries(map)
  const wanted = entries.filter(([key, value]) => typeof value === 'string' && keep(key))
  if (wanted.length === 0) return noStrings
  // Copied as an ordinary object: one without a prototype is kept as a hash table, at several times the memory.
  return wanted.length === entries.length
    ? ({ ...map } as Record<string, string>)
    : Object.fromEntries(wanted as [string, string][])
}

const noStrings: Record<string, string> = Object.freeze({})

function claimRefOf(reference: JsonObject | undefined): Volume['claimRef'] {
  const namespace = stringAt(reference, 'namespace')
  const name = stringAt(reference, 'name')
  if (namespace === undefined || name === undefined) return undefined
  return { namespace, name, uid: stringAt(reference, 'uid') }
}

function zonesOf(metadata: JsonObject | undefined, spec: JsonObject): readonly string[] {
  const required = objectAt(objectAt(spec, 'nodeAffinity'), 'required')
  const terms = listAt(required, 'nodeSelectorTerms').map((term) =>
    listAt(asObject(term), 'matchExpressions').flatMap((expression) => nodeRequirementOf(expression) ?? []),
  )
  const zones = zonesNamed(stringsOf(objectAt(metadata, 'labels')), terms)
  return zones.length === 0 ? noZones : zones
}

function nodeRequirementOf(expression: unknown): NodeRequirement | undefined {
  const requirement = asObject(expression)
  const key = stringAt(requirement, 'key')
  const operator = stringAt(requirement, 'operator')
  if (key === undefined || operator === undefined) return undefined
  const values = listAt(requirement, 'values').filter((value) => typeof value === 'string')
  return { key, operator, values }
}

function listAt(parent: JsonObject | undefined, key: string): readonly unknown[] {
  const list = parent?.[key]
  return Array.isArray(list) ? list : []
}

const noZones: readonly string[] = []

// Fields of a PersistentVolumeSpec that are objects and no volume source.
const otherSpecObjects: ReadonlySet<string> = new Set(['capacity', 'claimRef', 'nodeAffinity'])
// Where the sources of volumes that are not for us keep what identifies them.
const detailFields = [
  'path',
  'pdName',
  'diskURI',
  'diskName',
  'volumeID',
  'volumePath',
  'shareName',
  'driver',
  'server',
]

function sourceOf(spec: JsonObject): VolumeSource {
  const csi = objectAt(spec, 'csi')
  const driver = stringAt(csi, 'driver')
  const handle = stringAt(csi, 'volumeHandle')
  if (driver !== undefined && handle !== undefined) return { kind: 'csi', driver, handle }
  const volumeId = stringAt(objectAt(spec, 'awsElasticBlockStore'), 'volumeID')
  if (volumeId !== undefined) return { kind: 'awsElasticBlockStore', volumeId }
  const diskUri = stringAt(objectAt(spec, 'azureDisk'), 'diskURI')
  if (diskUri !== undefined) return { kind: 'azureDisk', diskUri }
  const pdName = stringAt(objectAt(spec, 'gcePersistentDisk'), 'pdName')
  if (pdName !== undefined) return { kind: 'gcePersistentDisk', pdName }

  for (const [type, value] of Object.entries(spec)) {
    const source = asObject(value)
    if (source === undefined || otherSpecObjects.has(type)) continue
    const detail = detailFields.map((field) => stringAt(source, field)).find((found) => found !== undefined)
    return { kind: 'other', type, detail }
  }
  return { kind: 'other', type: 'none', detail: undefined }
}
