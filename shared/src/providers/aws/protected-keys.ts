/** Seen in the sources of the EBS CSI driver, the cluster autoscaler, kops and EKS: losing one strands the volume. */
const protectedKeys: ReadonlySet<string> = new Set([
  'CSIVolumeName',
  'CSIVolumeSnapshotName',
  'KubernetesCluster',
  'Name',
  'ebs.csi.aws.com/cluster',
  'kubernetes.io',
])

/** With their slash or colon: `kubernetes.io/…` is the cluster's, `app.kubernetes.io/name` is anybody's. */
const protectedPrefixes: readonly string[] = ['kubernetes.io/', 'ebs.csi.aws.com/', 'eks:']

/** Keys that the account itself owns; EC2 refuses them in any casing, and no configuration can change that. */
export function isReserved(keyOrValue: string): boolean {
  return keyOrValue.slice(0, 4).toLowerCase() === 'aws:'
}

/** See `DiskProvider.isProtectedKey`. Keys in `optedIn` are the user's own wish. */
export function isProtectedKey(key: string, optedIn: ReadonlySet<string> = new Set()): boolean {
  if (isReserved(key)) return true
  if (optedIn.has(key)) return false
  return protectedKeys.has(key) || protectedPrefixes.some((prefix) => key.startsWith(prefix))
}
