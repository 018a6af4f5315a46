/** Kept free as on a real cloud: what CSI drivers and clusters write there would be lost otherwise. */
export function isProtectedKey(key: string, optedIn: ReadonlySet<string> = new Set()): boolean {
  if (optedIn.has(key)) return false
  return key.startsWith('kubernetes.io/') || key === 'KubernetesCluster'
}
