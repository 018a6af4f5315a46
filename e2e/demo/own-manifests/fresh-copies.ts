import {
  childOf,
  type JsonObject,
  type NewObject,
  stringOf,
} from '@k8s-cloud-tagger/shared/testing/kubernetes/objects.ts'
import type { OwnObject } from './own-objects.ts'

/**
 * Objects that were read from a cluster know each other by uids that no other cluster gives again, and are bound already.
 * These copies are as they were before their binding, with every relation kept that the files themselves show.
 */

const bindCompleted = 'pv.kubernetes.io/bind-completed'
const ofTheBinder = new Set([bindCompleted, 'pv.kubernetes.io/bound-by-controller'])
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

export function freshClaim({ name, metadata, spec }: OwnObject, volumes: readonly OwnObject[]): NewObject {
  const volumeName = stringOf(spec, 'volumeName')
  const isGiven = volumes.some((volume) => volume.name === volumeName)
  // Read from a cluster without its volume: it had a disk there, so it gets one here.
  const needsNewVolume = volumeName !== undefined && !isGiven && metadata.annotations[bindCompleted] === 'yes'
  return {
    metadata: { name, labels: metadata.labels, annotations: withoutTraces(metadata.annotations) },
    spec: needsNewVolume ? without(spec, 'volumeName') : spec,
  }
}

export function freshVolume({ name, metadata, spec }: OwnObject, claims: readonly OwnObject[]): NewObject {
  const reference = childOf(spec, 'claimRef')
  const claim = claims.find(
    (one) => one.name === stringOf(reference, 'name') && one.namespace === stringOf(reference, 'namespace'),
  )
  const isItsOwn = claim?.uid !== undefined && claim.uid === stringOf(reference, 'uid')
  return {
    metadata: { name, labels: metadata.labels, annotations: withoutTraces(metadata.annotations) },
    spec: isItsOwn ? { ...spec, claimRef: without(without(reference, 'uid'), 'resourceVersion') } : spec,
  }
}

function withoutTraces(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !ofTheBinder.has(key) && key !== lastApplied))
}

function without(object: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== field))
}
