import { apiVersionOf, type ResourceType, resourceTypes } from './resource-types.ts'

/** What kubectl and other clients ask before they ask for anything: undefined for a path that is not served. */
export function discover(
  path: string,
  authority: string,
): { readonly body: unknown; readonly text?: true } | undefined {
  switch (path) {
    case '/healthz':
    case '/livez':
    case '/readyz':
      return { body: 'ok', text: true }
    case '/version':
      return { body: { major: '1', minor: '34', gitVersion: 'v1.34.4', platform: 'node' } }
    case '/api':
      return {
        body: {
          kind: 'APIVersions',
          versions: ['v1'],
          serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: authority }],
        },
      }
    case '/apis':
      return { body: { kind: 'APIGroupList', apiVersion: 'v1', groups: groupNames().map(describeGroup) } }
    default:
      return discoverGroup(path)
  }
}

function discoverGroup(path: string): { readonly body: unknown } | undefined {
  const group = groupNames().find((name) => path === `/apis/${name}`)
  if (group !== undefined) return { body: { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) } }
  const groupVersion = path.replace(/^\/apis?\//, '')
  const types = resourceTypes.filter((type) => apiVersionOf(type) === groupVersion)
  if (types.length === 0) return undefined
  return {
    body: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: types.flatMap(describeResource) },
  }
}

function groupNames(): string[] {
  return [...new Set(resourceTypes.map(({ group }) => group))].filter((group) => group !== '')
}

function describeGroup(name: string): object {
  const version = { groupVersion: `${name}/v1`, version: 'v1' }
  return { name, versions: [version], preferredVersion: version }
}

function describeResource(type: ResourceType): object[] {
  const { plural, kind, namespaced, shortNames } = type
  const all = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
  const main = { name: plural, singularName: kind.toLowerCase(), namespaced, kind, verbs: all }
  const status = { name: `${plural}/status`, singularName: '', namespaced, kind, verbs: ['get', 'patch', 'update'] }
  return [shortNames.length > 0 ? { ...main, shortNames } : main, ...(type.hasStatus ? [status] : [])]
}
