import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../src/runtime/clock.ts'
import { isoTimestamp } from '../../src/runtime/timestamps.ts'
import {
  alreadyExists,
  ApiStatusError,
  badRequest,
  conflict,
  invalid,
  modifiedMeanwhile,
  notFound,
  unknownResource,
} from './api-status.ts'
import type { AdmissionRequest, Admission } from './admission.ts'
import { ObjectStore, VersionCounter } from './object-store.ts'
import { type JsonObject, type KubeObject, type NewObject, storeKey, withoutBlanks } from './objects.ts'
import { type ResourceType, resourceTypeNamed, resourceTypes } from './resource-types.ts'
import type { Place } from './place.ts'
import { dropEmptyMaps, keepWhatTheServerOwns, newObject, randomSuffix } from './server-fields.ts'
import type { UserInfo } from './users.ts'
import { requireStringMaps, validateObject } from './validation.ts'

/** Who writes, and how; `warnings` collects what goes back as Warning headers. */
export interface WriteContext {
  readonly user: UserInfo
  readonly dryRun: boolean
  readonly warnings: string[]
  /** CreateOptions, UpdateOptions (for a patch too) or DeleteOptions as an admission webhook sees them. */
  readonly options: JsonObject
}

export interface DeletePreconditions {
  readonly uid?: string
  readonly resourceVersion?: string
}

// The API server retries a patch whose object changed meanwhile five times before it gives up.
const updateTriesMax = 5

/** The generic verbs: admission first, then storage, as kube-apiserver orders them. */
export class Registry {
  readonly counter = new VersionCounter()
  readonly #stores = new Map<string, ObjectStore>()
  readonly #clock: Clock
  readonly #admission: Admission
  readonly #protects: boolean

  constructor(deps: {
    readonly clock: Clock
    readonly admission: Admission
    readonly historySize: number
    /** Adds the protection finalizers, which only the volume controller takes off again. */
    readonly protects: boolean
  }) {
    this.#clock = deps.clock
    this.#admission = deps.admission
    this.#protects = deps.protects
    for (const { storeName } of resourceTypes) {
      if (!this.#stores.has(storeName)) this.#stores.set(storeName, new ObjectStore(this.counter, deps.historySize))
    }
  }

  storeOf(type: ResourceType): ObjectStore {
    const store = this.#stores.get(type.storeName)
    if (store === undefined) throw unknownResource()
    return store
  }

  stores(): Iterable<ObjectStore> {
    return this.#stores.values()
  }

  get({ type, namespace, name }: Place): KubeObject {
    const object = this.storeOf(type).get(storeKey(namespace, name))
    if (object === undefined) throw notFound(type, name)
    return object
  }

  async create(
    type: ResourceType,
    namespace: string | undefined,
    body: NewObject,
    context: WriteContext,
  ): Promise<KubeObject> {
    if (namespace !== undefined) this.#requireNamespace(namespace)
    const draft = newObject(type, namespace, body)
    this.#fillIn(type, draft)
    const request = { operation: 'CREATE', type, namespace, subresource: '', oldObject: undefined, ...context } as const
    const admitted = await this.#admission.mutate({ ...request, name: draft.metadata.name, object: draft })
    const object = this.#complete(type, admitted)
    validateObject(type, object)
    // The validating webhooks see a new claim's status empty; the phase is a default of the stored form.
    const reviewed = type.kind === 'PersistentVolumeClaim' ? { ...object, status: {} } : object
    await this.#admission.validate({ ...request, name: object.metadata.name, object: reviewed })
    if (this.storeOf(type).get(storeKey(namespace, object.metadata.name)) !== undefined) {
      throw alreadyExists(type, object.metadata.name)
    }
    return context.dryRun ? withoutBlanks(object) : this.storeOf(type).put(object)
  }

  /**
   * Replaces the object by what `change` makes of its present state. When the state moves while webhooks are asked, all of
   * it is done again, so `change` may run several times; it checks the version itself where the caller gave one.
   */
  async update(place: Place, change: (current: KubeObject) => KubeObject, context: WriteContext): Promise<KubeObject> {
    for (let tries = 0; tries < updateTriesMax; tries++) {
      const current = this.get(place)
      const candidate = await this.#admitUpdate(place, current, change, context)
      if (this.get(place) !== current) continue
      return this.#store(place, candidate, current, context.dryRun)
    }
    throw modifiedMeanwhile(place.type, place.name)
  }

  async delete(place: Place, preconditions: DeletePreconditions, context: WriteContext): Promise<KubeObject> {
    const { type, namespace, name } = place
    const before = this.get(place)
    requirePreconditions(type, before, preconditions)
    const request: AdmissionRequest = {
      operation: 'DELETE',
      type,
      namespace,
      name,
      subresource: '',
      object: undefined,
      oldObject: before,
      ...context,
    }
    await this.#admission.mutate(request)
    await this.#admission.validate(request)
    const current = this.get(place)
    requirePreconditions(type, current, preconditions)
    if (context.dryRun) return current
    if ((current.metadata.finalizers?.length ?? 0) === 0) {
      return this.storeOf(type).delete(storeKey(namespace, name), current)
    }
    if (current.metadata.deletionTimestamp !== undefined) return current
    return this.storeOf(type).put({
      ...current,
      metadata: { ...current.metadata, deletionTimestamp: this.#now(), deletionGracePeriodSeconds: 0 },
    })
  }

  async #admitUpdate(
    place: Place,
    current: KubeObject,
    change: (current: KubeObject) => KubeObject,
    context: WriteContext,
  ): Promise<KubeObject> {
    const { type, namespace, name, subresource } = place
    const changed = change(structuredClone(current))
    requireSamePlace(place, changed)
    requireStringMaps(changed)
    const request = { operation: 'UPDATE', type, namespace, name, subresource, oldObject: current, ...context } as const
    const merged = keepWhatTheServerOwns(place, changed, current)
    const admitted = await this.#admission.mutate({ ...request, object: merged })
    const candidate = keepWhatTheServerOwns(place, admitted, current)
    requireCurrentVersion(type, candidate, current)
    this.#fillIn(type, candidate)
    validateObject(type, candidate, current)
    await this.#admission.validate({ ...request, object: candidate })
    return candidate
  }

  #store(place: Place, candidate: KubeObject, current: KubeObject, dryRun: boolean): KubeObject {
    const { type, namespace, name } = place
    candidate.metadata.resourceVersion = current.metadata.resourceVersion
    // A write that changes nothing is no write: no new version, no event.
    if (isDeepStrictEqual(candidate, current) || dryRun) return candidate
    const store = this.storeOf(type)
    const released =
      candidate.metadata.deletionTimestamp !== undefined && (candidate.metadata.finalizers?.length ?? 0) === 0
    // Whoever watches is shown the state before, finalizer included.
    if (released) return store.delete(storeKey(namespace, name), current)
    if (type.hasGeneration && !isDeepStrictEqual(candidate['webhooks'], current['webhooks'])) {
      candidate.metadata.generation = (current.metadata.generation ?? 0) + 1
    }
    return store.put(candidate)
  }

  #requireNamespace(namespace: string): void {
    const type = resourceTypeNamed('namespaces')
    const object = this.storeOf(type).get(namespace)
    if (object === undefined) throw notFound(type, namespace)
    if (object.metadata.deletionTimestamp !== undefined) {
      throw new ApiStatusError(
        403,
        'Forbidden',
        `unable to create new content in namespace ${namespace} because it is being terminated`,
      )
    }
  }

  /** What happens to a created object before the first webhook sees it: defaults and the built-in admission plugins. */
  #fillIn(type: ResourceType, object: KubeObject): void {
    type.setDefaults(object)
    if (object.metadata.uid !== '') return
    if (type.kind === 'PersistentVolumeClaim' && object.spec?.['storageClassName'] === undefined) {
      const byDefault = this.#defaultStorageClass()
      if (byDefault !== undefined) object.spec = { ...object.spec, storageClassName: byDefault }
    }
    const finalizer = this.#protects ? protectionFinalizers.get(type.kind) : undefined
    if (finalizer !== undefined && object.metadata.finalizers?.includes(finalizer) !== true) {
      object.metadata.finalizers = [...(object.metadata.finalizers ?? []), finalizer]
    }
  }

  #defaultStorageClass(): string | undefined {
    const classes = this.storeOf(resourceTypeNamed('storageclasses')).list()
    const marked = classes.find(
      ({ metadata }) => metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
    )
    return marked?.metadata.name
  }

  /** Name, uid and times are given after the mutating webhooks and before the validating ones. */
  #complete(type: ResourceType, object: KubeObject): KubeObject {
    const { metadata } = object
    if (metadata.name === '' && metadata.generateName !== undefined)
      metadata.name = metadata.generateName + randomSuffix()
    metadata.uid = randomUUID()
    metadata.creationTimestamp = this.#now()
    if (type.hasGeneration) metadata.generation = 1
    requireStringMaps(object)
    dropEmptyMaps(metadata)
    if (type.kind === 'Namespace') type.setDefaults(object)
    return object
  }

  #now(): string {
    return isoTimestamp(this.#clock.wallMs()).replace(/\.\d+Z$/, 'Z')
  }
}

const protectionFinalizers: ReadonlyMap<string, string> = new Map([
  ['PersistentVolumeClaim', 'kubernetes.io/pvc-protection'],
  ['PersistentVolume', 'kubernetes.io/pv-protection'],
])

function requireSamePlace({ name, namespace }: Place, { metadata }: KubeObject): void {
  if (metadata.name === undefined || metadata.name === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (metadata.namespace !== undefined && metadata.namespace !== '' && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
  }
}

function requireCurrentVersion(type: ResourceType, candidate: KubeObject, current: KubeObject): void {
  const asked = candidate.metadata.resourceVersion
  if (asked !== undefined && asked !== '' && asked !== current.metadata.resourceVersion) {
    throw modifiedMeanwhile(type, current.metadata.name)
  }
}

function requirePreconditions(type: ResourceType, { metadata }: KubeObject, wanted: DeletePreconditions): void {
  const differs = (field: string, asked: string | undefined, found: string): void => {
    if (asked === undefined || asked === found) return
    throw conflict(
      type,
      metadata.name,
      `Precondition failed: ${field} in precondition: ${asked}, ${field} in object meta: ${found}`,
    )
  }
  differs('UID', wanted.uid, metadata.uid)
  differs('ResourceVersion', wanted.resourceVersion, metadata.resourceVersion)
}

/** An update that must name the version it was made from. */
export function versionRequired(type: ResourceType, name: string): ApiStatusError {
  return invalid(type, name, [
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 0: must be specified for an update',
      field: 'metadata.resourceVersion',
    },
  ])
}
