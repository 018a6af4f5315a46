/** Seen in the sources of the PD CSI driver, GKE, OpenShift and Config Connector: they find their disks by these. */
const protectedKeys: ReadonlySet<string> = new Set([
  'cluster-id-gke-io',
  'managed-by-cnrm',
  'volume-publish-status-gke-io',
])

/** Google's own by convention; the API does not keep others from using them. */
const protectedPrefixes: readonly string[] = ['goog-', 'google-', 'kubernetes-io-cluster-']

/** See `DiskProvider.isProtectedKey`. Keys in `optedIn` are the user's own wish. */
export function isProtectedKey(key: string, optedIn: ReadonlySet<string> = new Set()): boolean {
  if (optedIn.has(key)) return false
  return protectedKeys.has(key) || protectedPrefixes.some((prefix) => key.startsWith(prefix))
}
