import { createHash } from 'node:crypto'
import type { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import type { KubeObject } from '@k8s-cloud-tagger/shared/testing/kubernetes/objects.ts'
import type { ProvisionedDisk } from '@k8s-cloud-tagger/shared/testing/kubernetes/volume-controller.ts'
import { ebsDrivers } from '@k8s-cloud-tagger/shared/claims/ebs-volume.ts'

/** A volume id in EC2's short form, which leaves more of a line to the tags. The same for the same claim in every run. */
export function diskIdFor(claim: string): string {
  return `vol-${digest(claim).slice(0, 8)}`
}

/** What the EBS CSI driver tags a disk with when it makes it (with `--extra-create-metadata`). None of it is ours. */
export function driverTags({ metadata }: KubeObject): Record<string, string> {
  const volume = `pvc-${metadata.uid}`
  return {
    CSIVolumeName: volume,
    'ebs.csi.aws.com/cluster': 'true',
    'kubernetes.io/created-for/pv/name': volume,
    'kubernetes.io/created-for/pvc/name': metadata.name,
    'kubernetes.io/created-for/pvc/namespace': metadata.namespace ?? '',
  }
}

/** Makes the disk of a claim as the class's CSI driver would: in EC2 where it is one of EBS, else only by its name. */
export function makeDisk(cloud: Ec2Fake, claim: KubeObject, driver: string): ProvisionedDisk {
  const key = `${claim.metadata.namespace ?? ''}/${claim.metadata.name}`
  if (!ebsDrivers.has(driver)) return { driver, handle: `fs-${digest(key).slice(0, 8)}` }
  const handle = diskIdFor(key)
  cloud.addVolume(handle, { tags: driverTags(claim) })
  return { driver, handle }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
