/**
 * The SDK for Compute Engine describes all of its 120 services in one JSON of 12 MB, parsed and built at start: two
 * seconds and 150 MB. We call three methods of two services. The bundle keeps what those need.
 */
import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

/** Whatever else `shared/src/providers/gcp` calls has to be added here, or the bundle does not know it. */
const methodsUsed: Readonly<Record<string, readonly string[]>> = {
  'google.cloud.compute.v1.Disks': ['Get', 'List', 'SetLabels'],
  'google.cloud.compute.v1.RegionDisks': ['Get', 'List', 'SetLabels'],
}

/** An esbuild plugin. The build fails where the SDK no longer has what is named above. */
export function pruneGoogleProtos(): Plugin {
  return {
    name: 'prune-google-protos',
    setup(build) {
      build.onLoad({ filter: /@google-cloud[\\/]compute[\\/]build[\\/]protos[\\/]protos\.json$/ }, async ({ path }) => {
        const root = JSON.parse(await readFile(path, 'utf8')) as ProtoObject
        return { contents: JSON.stringify(pruneProtos(root, methodsUsed)), loader: 'json' }
      })
    },
  }
}

/** A namespace, message, enum or service, as protobuf.js writes them. Only the parts that matter here. */
export interface ProtoObject {
  readonly nested?: Readonly<Record<string, ProtoObject>>
  readonly fields?: Readonly<Record<string, { readonly type: string }>>
  readonly methods?: Readonly<Record<string, { readonly requestType: string; readonly responseType: string }>>
}

/** Only these methods of these services, and the messages and enums that they need. Throws where one is missing. */
export function pruneProtos(root: ProtoObject, methods: Readonly<Record<string, readonly string[]>>): ProtoObject {
  const kept = new Map<string, ProtoObject>()
  for (const [service, names] of Object.entries(methods)) {
    const full = objectAt(root, service)
    const chosen = names.map((name) => [name, full?.methods?.[name]] as const)
    for (const [name, method] of chosen) {
      if (method === undefined) throw new Error(`the SDK has no ${service}.${name}`)
      for (const type of [method.requestType, method.responseType]) keepType(root, { type, from: service, kept })
    }
    kept.set(service, { ...full, methods: Object.fromEntries(chosen) as NonNullable<ProtoObject['methods']> })
  }
  return onlyKept(root, '', kept) ?? {}
}

interface TypeUse {
  /** As it is written, which may be relative to where it stands. */
  readonly type: string
  /** The full name of the message or service that uses it. */
  readonly from: string
  readonly kept: Map<string, ProtoObject>
}

/** Keeps a message with all that is nested in it, and what its fields and theirs refer to. */
function keepType(root: ProtoObject, { from, kept, type }: TypeUse): void {
  const name = resolve(root, type, from)
  if (name === undefined || kept.has(name)) return
  const object = objectAt(root, name)
  if (object === undefined) return
  kept.set(name, object)
  keepFields(root, { name, object, kept })
}

function keepFields(
  root: ProtoObject,
  {
    kept,
    name,
    object,
  }: { readonly name: string; readonly object: ProtoObject; readonly kept: Map<string, ProtoObject> },
): void {
  for (const { type } of Object.values(object.fields ?? {})) keepType(root, { type, from: name, kept })
  for (const [inner, nested] of Object.entries(object.nested ?? {})) {
    keepFields(root, { name: `${name}.${inner}`, object: nested, kept })
  }
}

/** The full name: looked for in the innermost scope first, as protobuf does. Undefined for scalars. */
function resolve(root: ProtoObject, type: string, from: string): string | undefined {
  const scope = from.split('.')
  for (let depth = scope.length; depth >= 0; depth--) {
    const name = [...scope.slice(0, depth), type].join('.')
    if (objectAt(root, name) !== undefined) return name
  }
  return undefined
}

function objectAt(root: ProtoObject, name: string): ProtoObject | undefined {
  let object: ProtoObject | undefined = root
  for (const part of name.split('.')) object = object?.nested?.[part]
  return object
}

/** What is kept, in the namespaces around it. A kept message brings all that is nested in it. */
function onlyKept(object: ProtoObject, name: string, kept: ReadonlyMap<string, ProtoObject>): ProtoObject | undefined {
  const whole = kept.get(name)
  if (whole !== undefined) return whole
  const nested: Record<string, ProtoObject> = {}
  for (const [inner, child] of Object.entries(object.nested ?? {})) {
    const rest = onlyKept(child, name === '' ? inner : `${name}.${inner}`, kept)
    if (rest !== undefined) nested[inner] = rest
  }
  return Object.keys(nested).length > 0 ? { ...object, nested } : undefined
}
