/**
 * A claim's identity on the queue: `namespace/name`. A branded string, because the queue compares its items by value
 * and JavaScript compares objects by identity.
 */
export type ClaimKey = string & { readonly __brand: 'ClaimKey' }

export function claimKey(namespace: string, name: string): ClaimKey {
  return `${namespace}/${name}` as ClaimKey
}

export function splitClaimKey(key: ClaimKey): { readonly namespace: string; readonly name: string } {
  // Neither part can hold a slash (DNS-1123), so the first one separates them.
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
