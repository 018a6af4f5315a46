import type { UserInfo } from './users.ts'
import { unknownResource } from './api-status.ts'
import { findResourceType, type ResourceType, resourceTypes } from './resource-types.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** A request for a resource, as hooks, faults, counters and the log see it. */
export interface ApiRequest {
  /** Counts from 1 over all requests for resources. */
  readonly sequence: number
  readonly user: UserInfo
  readonly verb: Verb
  readonly type: ResourceType
  readonly namespace: string | undefined
  /** Empty for lists, watches of all objects, and creates. */
  readonly name: string
  readonly subresource: string
  readonly query: URLSearchParams
  readonly contentType: string
  readonly userAgent: string
  /** The parsed body, undefined where there is none; a string where it is not JSON. */
  readonly body: unknown
}

export type ResourcePath = Pick<ApiRequest, 'verb' | 'type' | 'namespace' | 'name' | 'subresource'>

/** Undefined for a path outside the resources, such as /version. Throws 404 for a resource that is not served. */
export function parseResourcePath(method: string, path: string, query: URLSearchParams): ResourcePath | undefined {
  const match = /^\/(?:api|apis\/([^/]+))\/(v[^/]+)\/(.+)$/.exec(path)
  if (match === null) return undefined
  const [, group = '', version = '', rest = ''] = match
  const split = splitPath(rest)
  const { namespace, plural, name, subresource } = split
  if (!resourceTypes.some((type) => type.group === group && type.version === version)) return undefined
  const type = findResourceType(group, version, plural)
  if (type === undefined || !isServed(type, split)) throw unknownResource()
  return { verb: verbOf(method, name, query), type, namespace, name, subresource }
}

interface SplitPath {
  readonly namespace: string | undefined
  readonly plural: string
  readonly name: string
  readonly subresource: string
}

function splitPath(rest: string): SplitPath {
  const parts = rest.split('/').map(decodeURIComponent)
  // A namespace is a resource itself, and `namespaces/<name>/status` is its subresource.
  const within = parts[0] === 'namespaces' && parts.length > 2 && parts[2] !== 'status'
  const [plural = '', name = '', subresource = ''] = within ? parts.slice(2) : parts
  return { namespace: within ? parts[1] : undefined, plural, name, subresource }
}

function isServed(type: ResourceType, { namespace, name, subresource }: SplitPath): boolean {
  if (!type.namespaced && namespace !== undefined) return false
  if (type.namespaced && namespace === undefined && name !== '') return false
  return subresource === '' || (subresource === 'status' && type.hasStatus)
}

function verbOf(method: string, name: string, query: URLSearchParams): Verb {
  switch (method) {
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
    default:
      if (query.get('watch') === 'true' || query.get('watch') === '1') return 'watch'
      return name === '' ? 'list' : 'get'
  }
}
