import type { BucketName } from './token-buckets.ts'
import { parsePatch } from './tags-api.ts'

/** What a request asks for. */
export interface Route {
  readonly operation: string
  readonly disk?: string
  readonly subscription?: string
  readonly tenant?: string
  /** Undefined for Entra ID, which we do not pace. */
  readonly bucket?: BucketName
}

const diskPath = /^(\/subscriptions\/([^/]+)\/resourceGroups\/[^/]+\/providers\/Microsoft\.Compute\/disks\/[^/]+)(.*)$/i
const tagsSuffix = '/providers/microsoft.resources/tags/default'
const graphPath = '/providers/microsoft.resourcegraph/resources'
const configurationPath = /^\/([^/]+)\/(?:v2\.0\/)?\.well-known\/openid-configuration$/
const tokenPath = /^\/([^/]+)\/oauth2\/v2\.0\/token$/

/** Undefined for what the fake does not know. */
export function routeOf(method: string, url: URL, body: string): Route | undefined {
  const path = decodeURIComponent(url.pathname)
  const isGraph = method === 'POST' && path.toLowerCase() === graphPath
  if (isGraph) return { operation: 'QueryResources', bucket: 'graph' }
  return diskRoute(method, path, body) ?? identityRoute(method, path)
}

function diskRoute(method: string, path: string, body: string): Route | undefined {
  const [, disk, subscription, rest = ''] = diskPath.exec(path) ?? []
  if (disk === undefined || subscription === undefined) return undefined
  const operation = diskOperation(method, rest.toLowerCase(), body)
  if (operation === undefined) return undefined
  return { operation, disk, subscription, bucket: method === 'GET' ? 'reads' : 'writes' }
}

function identityRoute(method: string, path: string): Route | undefined {
  const [, configured] = configurationPath.exec(path) ?? []
  if (method === 'GET' && configured !== undefined) return { operation: 'OpenIdConfiguration', tenant: configured }
  const [, tenant] = tokenPath.exec(path) ?? []
  return method === 'POST' && tenant !== undefined ? { operation: 'Token', tenant } : undefined
}

function diskOperation(method: string, rest: string, body: string): string | undefined {
  if (rest === '') return method === 'GET' ? 'GetDisk' : undefined
  if (rest !== tagsSuffix) return undefined
  if (method === 'GET') return 'GetTags'
  return method === 'PATCH' ? `${patchName(body)}Tags` : undefined
}

function patchName(body: string): string {
  try {
    return parsePatch(body).operation
  } catch {
    return 'Patch'
  }
}
