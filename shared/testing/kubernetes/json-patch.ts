import { isDeepStrictEqual } from 'node:util'
import { badRequest, patchDoesNotApply } from './api-status.ts'
import { isJsonObject, type JsonObject } from './objects.ts'

/**
 * RFC 6902 as kube-apiserver 1.34 applies it, which is laxer than the RFC where the parent is an object: `replace`
 * creates a missing key, `test` against null and `copy` from nothing take a missing key for null. All of these fail
 * when the parent itself is missing, and so do `remove` and `move` of a missing key.
 */
export function applyJsonPatch(document: JsonObject, operations: unknown): JsonObject {
  if (!Array.isArray(operations)) {
    throw badRequest('error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp')
  }
  const root = { '': structuredClone(document) as unknown }
  for (const operation of operations as readonly unknown[]) {
    if (!isJsonObject(operation)) {
      throw badRequest('error decoding patch: json: cannot unmarshal into Go value of type handlers.jsonPatchOp')
    }
    applyOperation(root, operation)
  }
  if (!isJsonObject(root[''])) throw patchDoesNotApply()
  return root['']
}

/** The empty key above the document makes the whole of it addressable like any other value. */
type Root = { '': unknown }

function applyOperation(root: Root, operation: JsonObject): void {
  const target = locate(root, operation['path'])
  switch (operation['op']) {
    case 'add':
      return insert(target, structuredClone(operation['value']))
    case 'remove':
      return void take(target)
    case 'replace':
      return replace(target, structuredClone(operation['value']))
    case 'move':
      return insert(target, take(locate(root, operation['from'])))
    case 'copy':
      return insert(target, structuredClone(read(locate(root, operation['from'])) ?? null))
    case 'test':
      if (!isDeepStrictEqual(read(target) ?? null, operation['value'] ?? null)) throw patchDoesNotApply()
      return
    default:
      throw patchDoesNotApply()
  }
}

type Location = { readonly parent: JsonObject | unknown[]; readonly key: string }

function locate(root: Root, pointer: unknown): Location {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) throw patchDoesNotApply()
  const keys = pointer.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  let parent: unknown = root
  for (const key of keys.slice(0, -1)) {
    parent = Array.isArray(parent) ? parent[indexOf(parent, key)] : isJsonObject(parent) ? parent[key] : undefined
  }
  if (!Array.isArray(parent) && !isJsonObject(parent)) throw patchDoesNotApply()
  return { parent, key: keys.at(-1) ?? '' }
}

function indexOf(array: readonly unknown[], key: string): number {
  if (!/^(0|[1-9]\d*)$/.test(key) || Number(key) >= array.length) throw patchDoesNotApply()
  return Number(key)
}

function read({ parent, key }: Location): unknown {
  return Array.isArray(parent) ? parent[indexOf(parent, key)] : parent[key]
}

function insert({ parent, key }: Location, value: unknown): void {
  if (!Array.isArray(parent)) parent[key] = value
  else if (key === '-' || Number(key) === parent.length) parent.push(value)
  else parent.splice(indexOf(parent, key), 0, value)
}

function replace({ parent, key }: Location, value: unknown): void {
  if (Array.isArray(parent)) parent[indexOf(parent, key)] = value
  else parent[key] = value
}

function take({ parent, key }: Location): unknown {
  if (Array.isArray(parent)) return parent.splice(indexOf(parent, key), 1)[0]
  if (!Object.hasOwn(parent, key)) throw patchDoesNotApply()
  const value = parent[key]
  delete parent[key]
  return value
}
