/** CSI drivers whose handles are EBS volume ids: the EBS CSI driver and that of EKS Auto Mode. */
export const ebsDrivers: ReadonlySet<string> = new Set(['ebs.csi.aws.com', 'ebs.csi.eks.amazonaws.com'])

// CreateTags tags any EC2 resource, so nothing but a volume's id may reach it. The alphabet is the EBS CSI driver's own
// check; today's ids have 8 or 17 hex digits, and how many tomorrow's have is for EC2 to say.
const volumeId = /^vol-[0-9a-z]{1,64}$/

// The in-tree source writes `aws://<zone>/vol-…`, `aws:///vol-…` or the bare id (csi-translation-lib).
const inTreePrefix = /^aws:\/\/[a-z0-9-]*\//

export function ebsVolumeIdOf(handle: string): string | undefined {
  const id = handle.replace(inTreePrefix, '')
  return volumeId.test(id) ? id : undefined
}
