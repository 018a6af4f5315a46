import { randomBytes } from 'node:crypto'
import { ApiStatusError, badRequest } from './api-status.ts'
import type { KubeObject, NewObject, ObjectMeta } from './objects.ts'
import type { Place } from './place.ts'
import { apiVersionOf, type ResourceType } from './resource-types.ts'

/** What a client sent for a creation, without the fields that only the server gives. */
export function newObject(type: ResourceType, namespace: string | undefined, body: NewObject): KubeObject {
  const given = structuredClone(body.metadata)
  if (given.namespace !== undefined && given.namespace !== '' && given.namespace !== (namespace ?? '')) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  if (given.resourceVersion !== undefined && given.resourceVersion !== '') {
    throw new ApiStatusError(500, '', 'resourceVersion should not be set on objects to be created')
  }
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, managedFields: ___, ...kept } = given
  const metadata: ObjectMeta = {
    ...kept,
    name: given.name ?? '',
    uid: '',
    resourceVersion: '',
    creationTimestamp: '',
    ...(namespace === undefined ? {} : { namespace }),
  }
  const { status: ____, ...fields } = structuredClone(body)
  return { ...fields, kind: type.kind, apiVersion: apiVersionOf(type), metadata }
}

/** The main resource cannot move the status, and /status nothing but the status and the metadata. */
export function keepWhatTheServerOwns(place: Place, changed: KubeObject, current: KubeObject): KubeObject {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = current.metadata
  const metadata: ObjectMeta = {
    ...changed.metadata,
    uid: changed.metadata.uid === undefined || changed.metadata.uid === '' ? uid : changed.metadata.uid,
    creationTimestamp,
    ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
    ...(generation === undefined ? {} : { generation }),
  }
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata['managedFields']
  dropEmptyMaps(metadata)
  if (deletionTimestamp !== undefined) metadata.deletionTimestamp = deletionTimestamp
  if (deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds = deletionGracePeriodSeconds
  const { kind, apiVersion } = current
  if (place.subresource === 'status') {
    return { ...current, metadata, ...(changed.status === undefined ? {} : { status: changed.status }) }
  }
  if (!place.type.hasStatus) return { ...changed, kind, apiVersion, metadata }
  const { status: _, ...rest } = changed
  return { ...rest, kind, apiVersion, metadata, ...(current.status === undefined ? {} : { status: current.status }) }
}

/** An empty map or list is not there at all: a JSON patch into it fails for want of its parent. */
export function dropEmptyMaps(metadata: ObjectMeta): void {
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
    const value = metadata[field]
    if (value === null || (typeof value === 'object' && Object.keys(value).length === 0)) delete metadata[field]
  }
}

/** Five letters and digits without vowels, as the API server ends generated names. */
export function randomSuffix(): string {
  const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
  return Array.from(randomBytes(5), (byte) => alphabet[byte % alphabet.length]).join('')
}
