/** Objects as they go over the wire. The store never changes one in place: a write replaces it. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  spec?: JsonObject
  status?: JsonObject
  [field: string]: unknown
}

export type JsonObject = Record<string, unknown>

export interface ObjectMeta {
  name: string
  namespace?: string
  generateName?: string
  uid: string
  resourceVersion: string
  generation?: number
  creationTimestamp: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  [field: string]: unknown
}

/** What a caller may hand in for a create: the server fills the rest. */
export interface NewObject {
  readonly metadata: Partial<ObjectMeta>
  readonly [field: string]: unknown
}

/** Fields of the metadata that hold nothing are absent on the wire: a new object has no version yet. */
export function withoutBlanks(object: KubeObject): KubeObject {
  const filled = Object.entries(object.metadata).filter(([, value]) => value !== '')
  return { ...object, metadata: Object.fromEntries(filled) as ObjectMeta }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A child object, or an empty one where there is none. */
export function childOf(parent: JsonObject | undefined, field: string): JsonObject {
  const child = parent?.[field]
  return isJsonObject(child) ? child : {}
}

export function stringOf(parent: JsonObject | undefined, field: string): string | undefined {
  const value = parent?.[field]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** `namespace/name`, or the name alone for what has no namespace: the order in which the API server lists. */
export function storeKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

export function keyOf(object: KubeObject): string {
  return storeKey(object.metadata.namespace, object.metadata.name)
}
