import { type JsonObject, isJsonObject, stringOf } from '@k8s-cloud-tagger/shared/testing/kubernetes/objects.ts'
import type { SourceObject } from './read-folder.ts'

/** An object as it is going to be created, and where it came from. */
export interface OwnObject {
  readonly where: string
  readonly name: string
  /** Empty for what has no namespace. */
  readonly namespace: string
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  }
  /** Of the object that was read, by which the files refer to each other. */
  readonly uid: string | undefined
  readonly spec: JsonObject
  /** For a StorageClass. */
  readonly provisioner: string | undefined
}

export interface OwnObjects {
  readonly claims: readonly OwnObject[]
  readonly volumes: readonly OwnObject[]
  readonly namespaces: readonly OwnObject[]
  readonly storageClasses: readonly OwnObject[]
  /** How many objects of other kinds were left out, by kind. */
  readonly leftOut: ReadonlyMap<string, number>
  /** Each with the place and the reason. */
  readonly problems: readonly string[]
}

const kindsUsed = ['PersistentVolumeClaim', 'PersistentVolume', 'Namespace', 'StorageClass', 'StatefulSet'] as const
type KindUsed = (typeof kindsUsed)[number]

/** Sorts what the files hold and looks for what nobody could use. */
export function ownObjects(sources: readonly SourceObject[]): OwnObjects {
  const byKind: Record<KindUsed, OwnObject[]> = {
    PersistentVolumeClaim: [],
    PersistentVolume: [],
    Namespace: [],
    StorageClass: [],
    StatefulSet: [],
  }
  const leftOut = new Map<string, number>()
  const problems: string[] = []
  for (const { where, object } of sources) {
    if (!isJsonObject(object) || stringOf(object, 'kind') === undefined) {
      problems.push(`${where}: is no Kubernetes object, it has no kind`)
      continue
    }
    const kind = kindsUsed.find((used) => used === object['kind'])
    if (kind === undefined) {
      const name = String(stringOf(object, 'kind'))
      leftOut.set(name, (leftOut.get(name) ?? 0) + 1)
      continue
    }
    const found = problemsOf(kind, object)
    problems.push(...found.map((problem) => `${where}: ${kind}: ${problem}`))
    if (found.length === 0) byKind[kind].push(readObject(kind, where, object))
  }
  const claims = [...byKind.PersistentVolumeClaim, ...byKind.StatefulSet.flatMap(claimsOfSet)]
  const volumes = byKind.PersistentVolume
  problems.push(...duplicates(claims), ...duplicates(volumes))
  return { claims, volumes, namespaces: byKind.Namespace, storageClasses: byKind.StorageClass, leftOut, problems }
}

function problemsOf(kind: KindUsed, object: JsonObject): readonly string[] {
  const metadata = object['metadata']
  if (!isJsonObject(metadata)) return ['metadata is missing']
  const problems: string[] = []
  if (stringOf(metadata, 'name') === undefined) problems.push('metadata.name is missing, or no string')
  for (const field of ['labels', 'annotations']) problems.push(...mapProblems(`metadata.${field}`, metadata[field]))
  const hasSpec = kind === 'Namespace' || kind === 'StorageClass' || isJsonObject(object['spec'])
  if (!hasSpec) problems.push('spec is missing')
  return problems
}

/** `version: 1.0` without quotes is a number in YAML, and the mistake that is made most. */
function mapProblems(field: string, map: unknown): readonly string[] {
  if (map === undefined || map === null) return []
  if (!isJsonObject(map)) return [`${field} is no map`]
  return Object.entries(map)
    .filter(([, value]) => typeof value !== 'string')
    .map(([key, value]) => `${field}.${key}: ${JSON.stringify(value)} is no string; put it in quotes`)
}

function readObject(kind: KindUsed, where: string, object: JsonObject): OwnObject {
  const metadata = object['metadata'] as JsonObject
  const isNamespaced = kind === 'PersistentVolumeClaim' || kind === 'StatefulSet'
  return {
    where,
    name: stringOf(metadata, 'name') ?? '',
    namespace: isNamespaced ? (stringOf(metadata, 'namespace') ?? 'default') : '',
    metadata: { labels: stringsOf(metadata['labels']), annotations: stringsOf(metadata['annotations']) },
    uid: stringOf(metadata, 'uid'),
    spec: isJsonObject(object['spec']) ? object['spec'] : {},
    provisioner: stringOf(object, 'provisioner'),
  }
}

/** As the StatefulSet controller makes them: a claim for each template and replica, the selector's labels added. */
function claimsOfSet({ where, name, namespace, spec }: OwnObject): readonly OwnObject[] {
  const templates: readonly unknown[] = Array.isArray(spec['volumeClaimTemplates']) ? spec['volumeClaimTemplates'] : []
  const replicas = typeof spec['replicas'] === 'number' ? spec['replicas'] : 1
  const selected = isJsonObject(spec['selector']) ? stringsOf(spec['selector']['matchLabels']) : {}
  return templates.filter(isJsonObject).flatMap((template) => {
    const metadata = isJsonObject(template['metadata']) ? template['metadata'] : {}
    return Array.from({ length: replicas }, (_, index) => ({
      where,
      name: `${stringOf(metadata, 'name') ?? ''}-${name}-${index}`,
      namespace,
      metadata: {
        labels: { ...stringsOf(metadata['labels']), ...selected },
        annotations: stringsOf(metadata['annotations']),
      },
      uid: undefined,
      spec: isJsonObject(template['spec']) ? template['spec'] : {},
      provisioner: undefined,
    }))
  })
}

function duplicates(objects: readonly OwnObject[]): readonly string[] {
  const seen = new Map<string, string>()
  return objects.flatMap(({ where, namespace, name }) => {
    const key = namespace === '' ? name : `${namespace}/${name}`
    const first = seen.get(key)
    seen.set(key, first ?? where)
    return first === undefined ? [] : [`${where}: ${key} is in ${first} already`]
  })
}

function stringsOf(map: unknown): Record<string, string> {
  if (!isJsonObject(map)) return {}
  return Object.fromEntries(
    Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
