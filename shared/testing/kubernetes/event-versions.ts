import type { JsonObject, KubeObject } from './objects.ts'

/** An Event is one object with two faces; it is stored as events.k8s.io/v1 and shown to core/v1 with the older names. */
const coreNames: readonly (readonly [core: string, current: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
]

export function eventFromCore(object: KubeObject): KubeObject {
  return { ...renamed(object, new Map(coreNames)), apiVersion: 'events.k8s.io/v1' } as KubeObject
}

export function eventToCore(object: KubeObject): KubeObject {
  return {
    ...renamed(object, new Map(coreNames.map(([core, current]) => [current, core]))),
    apiVersion: 'v1',
  } as KubeObject
}

function renamed(object: KubeObject, names: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([field, value]) => [names.get(field) ?? field, value]))
}
