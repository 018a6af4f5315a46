import { childOf, isJsonObject, type JsonObject, type KubeObject } from './objects.ts'
import { claimRules, eventRules, type KindRules, leaseRules, volumeRules } from './kind-rules.ts'
import { eventFromCore, eventToCore } from './event-versions.ts'

/** One row of the API: everything the generic code must know about a resource. */
export interface ResourceType {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  readonly shortNames: readonly string[]
  readonly hasStatus: boolean
  /** Webhook configurations count their generations; claims and volumes do not. */
  readonly hasGeneration: boolean
  /** What the kind demands of its fields; violations are 422. */
  readonly rules: KindRules
  /** Paths of fields of type MicroTime, which are decoded strictly. */
  readonly microTimes: readonly string[]
  /** Whether a deletion answers with the object instead of a Status. */
  readonly returnsDeleted: boolean
  /** Two API groups may serve one store: the events do. */
  readonly storeName: string
  /** Fields that the API server fills where a client left them out. */
  readonly setDefaults: (object: KubeObject) => void
  /** Between the form on the wire and the stored one, where they differ. */
  readonly toStored?: (object: KubeObject) => KubeObject
  readonly fromStored?: (object: KubeObject) => KubeObject
}

const eventTimes = ['eventTime', 'series.lastObservedTime']

export const resourceTypes: readonly ResourceType[] = [
  row('v1', 'namespaces', 'Namespace', {
    namespaced: false,
    shortNames: ['ns'],
    hasStatus: true,
    setDefaults: defaultNamespace,
  }),
  row('v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', {
    shortNames: ['pvc'],
    hasStatus: true,
    setDefaults: defaultClaim,
    rules: claimRules,
  }),
  row('v1', 'persistentvolumes', 'PersistentVolume', {
    namespaced: false,
    shortNames: ['pv'],
    hasStatus: true,
    setDefaults: defaultVolume,
    rules: volumeRules,
  }),
  row('v1', 'events', 'Event', {
    shortNames: ['ev'],
    storeName: 'events',
    rules: eventRules,
    microTimes: eventTimes,
    toStored: eventFromCore,
    fromStored: eventToCore,
  }),
  row('v1', 'configmaps', 'ConfigMap', { shortNames: ['cm'] }),
  row('v1', 'secrets', 'Secret', {}),
  row('v1', 'serviceaccounts', 'ServiceAccount', { shortNames: ['sa'] }),
  row('events.k8s.io/v1', 'events', 'Event', {
    shortNames: ['ev'],
    storeName: 'events',
    rules: eventRules,
    microTimes: eventTimes,
  }),
  row('storage.k8s.io/v1', 'storageclasses', 'StorageClass', {
    namespaced: false,
    shortNames: ['sc'],
    setDefaults: defaultStorageClass,
    returnsDeleted: true,
  }),
  row('coordination.k8s.io/v1', 'leases', 'Lease', {
    rules: leaseRules,
    microTimes: ['spec.acquireTime', 'spec.renewTime'],
  }),
  row('admissionregistration.k8s.io/v1', 'validatingwebhookconfigurations', 'ValidatingWebhookConfiguration', {
    namespaced: false,
    hasGeneration: true,
    setDefaults: defaultWebhooks,
  }),
  row('admissionregistration.k8s.io/v1', 'mutatingwebhookconfigurations', 'MutatingWebhookConfiguration', {
    namespaced: false,
    hasGeneration: true,
    setDefaults: defaultMutatingWebhooks,
  }),
]

export function apiVersionOf(type: ResourceType): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`
}

/** The stored object in the form of this row's API group. */
export function shownAs(type: ResourceType, stored: KubeObject): KubeObject {
  const object = type.fromStored?.(stored) ?? stored
  const apiVersion = apiVersionOf(type)
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion }
}

export function findResourceType(group: string, version: string, plural: string): ResourceType | undefined {
  return resourceTypes.find((type) => type.group === group && type.version === version && type.plural === plural)
}

/** The first row of that plural: of the two kinds of events this is core/v1. */
export function resourceTypeNamed(plural: string): ResourceType {
  const type = resourceTypes.find((candidate) => candidate.plural === plural)
  if (type === undefined) throw new Error(`no resource is called ${plural}`)
  return type
}

function row(apiVersion: string, plural: string, kind: string, more: Partial<ResourceType>): ResourceType {
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  return {
    group,
    version,
    plural,
    kind,
    namespaced: true,
    shortNames: [],
    hasStatus: false,
    hasGeneration: false,
    storeName: group === '' ? plural : `${plural}.${group}`,
    setDefaults: () => {},
    rules: () => [],
    microTimes: [],
    returnsDeleted: more.hasStatus ?? false,
    ...more,
  }
}

function defaultNamespace(object: KubeObject): void {
  object.metadata.labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name }
  object.spec = { finalizers: ['kubernetes'], ...object.spec }
  object.status ??= { phase: 'Active' }
}

function defaultClaim(object: KubeObject): void {
  object.spec = { volumeMode: 'Filesystem', ...object.spec }
  object.status = { phase: 'Pending', ...object.status }
}

function defaultVolume(object: KubeObject): void {
  object.spec = { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', ...object.spec }
  object.status = { phase: 'Pending', ...object.status }
  const claimRef = childOf(object.spec, 'claimRef')
  if (Object.keys(claimRef).length > 0) {
    object.spec['claimRef'] = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', ...claimRef }
  }
}

function defaultStorageClass(object: KubeObject): void {
  object['reclaimPolicy'] ??= 'Delete'
  object['volumeBindingMode'] ??= 'Immediate'
}

function defaultWebhooks(object: KubeObject): void {
  object['webhooks'] = objectsIn(object['webhooks']).map(withWebhookDefaults)
}

function defaultMutatingWebhooks(object: KubeObject): void {
  const never = { reinvocationPolicy: 'Never' }
  object['webhooks'] = objectsIn(object['webhooks']).map((webhook) =>
    Object.assign({}, never, withWebhookDefaults(webhook)),
  )
}

function withWebhookDefaults(webhook: JsonObject): JsonObject {
  const clientConfig = { ...childOf(webhook, 'clientConfig') }
  const service = childOf(clientConfig, 'service')
  if (Object.keys(service).length > 0) clientConfig['service'] = { port: 443, ...service }
  return {
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
    ...webhook,
    rules: objectsIn(webhook['rules']).map((rule) => Object.assign({ scope: '*' }, rule)),
    clientConfig,
  }
}

function objectsIn(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
