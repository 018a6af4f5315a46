import type { DiskRef } from '@k8s-cloud-tagger/shared/claims/disk.ts'
import { resolveDisk, type Resolution } from '@k8s-cloud-tagger/shared/claims/resolve.ts'
import { decodeClaim, decodeVolume } from '@k8s-cloud-tagger/shared/kubernetes/decode.ts'

export type Found =
  | { readonly kind: 'disk'; readonly disk: DiskRef }
  /** For good, as far as the claim and the volume go. */
  | { readonly kind: 'none'; readonly reason: string }
  | { readonly kind: 'not-yet'; readonly reason: string }

export const unbound = 'not bound yet'

/** The disk of a claim by the product's own rule, or why there is none, for people. */
export function findDisk(claimObject: unknown, volumeObject: unknown): Found {
  const claim = decodeClaim(claimObject)
  const volume = decodeVolume(volumeObject)
  const resolution = resolveDisk(claim.ok ? claim.value : undefined, volume.ok ? volume.value : undefined, 'aws')
  if (resolution.kind === 'ready') return { kind: 'disk', disk: resolution.disk }
  return { kind: resolution.kind === 'skip' ? 'none' : 'not-yet', reason: reasonOf(resolution) }
}

function reasonOf(resolution: Exclude<Resolution, { readonly kind: 'ready' }>): string {
  switch (resolution.reason) {
    case 'claim-unbound':
      return unbound
    case 'volume-not-found':
      return 'its volume is not there'
    case 'namespace-not-found':
      return 'its namespace is not there'
    case 'volume-unclaimed':
      return 'its volume names no claim yet'
    case 'claim-gone':
    case 'claim-deleting':
      return 'the claim is gone'
    case 'volume-of-another-claim':
      return 'skipped: the volume is of another claim'
    case 'disk-of-another-volume':
      return 'skipped: an older volume names this disk too'
    case 'out-of-scope':
    case 'opted-out':
      return 'left alone'
    case 'unsupported-volume':
      return `skipped: ${resolution.detail ?? 'this volume'} is no EBS disk`
    case 'malformed-handle':
      return `skipped: ${resolution.detail ?? 'its handle'} is no EBS volume id`
    default:
      return resolution satisfies never
  }
}
