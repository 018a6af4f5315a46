import type { Claim } from './claim.ts'
import type { DiskRef } from './disk.ts'
import { diskOfVolume } from './disk-sources.ts'
import type { Cloud, NotADisk } from './disk-sources.ts'
import type { Volume } from './volume.ts'

/** Why a claim has no disk for us. Machine-readable: metric labels and log fields. */
export type SkipReason =
  | 'claim-gone'
  | 'claim-deleting'
  /** The claim names a volume that belongs to another claim: somebody else's disk, or a claim that lost its volume. */
  | 'volume-of-another-claim'
  /** Another, older volume names the same disk: its claim's tags count. */
  | 'disk-of-another-volume'
  | 'out-of-scope'
  | 'opted-out'
  | NotADisk

/** Why there is no disk yet. Nothing polls these: the bind, or the volume's arrival, is seen. */
export type PendingReason = 'claim-unbound' | 'volume-not-found' | 'volume-unclaimed' | 'namespace-not-found'

export type Resolution =
  | { readonly kind: 'ready'; readonly claim: Claim; readonly volume: Volume; readonly disk: DiskRef }
  | { readonly kind: 'pending'; readonly reason: PendingReason }
  | { readonly kind: 'skip'; readonly reason: SkipReason; readonly detail?: string }

/** The one way from a claim to its disk. Pure: the caller has read both objects. */
export function resolveDisk(claim: Claim | undefined, volume: Volume | undefined, cloud: Cloud): Resolution {
  if (claim === undefined) return skip('claim-gone')
  if (claim.deleting) return skip('claim-deleting')
  if (claim.volumeName === undefined) return pending('claim-unbound')
  if (volume === undefined) return pending('volume-not-found')

  // Whoever may create a claim may write any volume's name into it. Only the volume's own claimRef, which tenants cannot
  // edit, says whose it is; the name alone does not do, since a claim may be deleted and made again.
  const owner = volume.claimRef
  if (owner === undefined) return pending('volume-unclaimed')
  if (owner.namespace !== claim.namespace || owner.name !== claim.name) return skip('volume-of-another-claim')
  // Bound beforehand by an administrator, by name only: the controller fills in the uid when it agrees.
  if (owner.uid === undefined) return pending('volume-unclaimed')
  if (owner.uid !== claim.uid) return skip('volume-of-another-claim')

  const found = diskOfVolume(volume, cloud)
  if (found.kind === 'not-a-disk') return { kind: 'skip', reason: found.reason, detail: found.detail }
  return { kind: 'ready', claim, volume, disk: found.disk }
}

function skip(reason: SkipReason): Resolution {
  return { kind: 'skip', reason }
}

function pending(reason: PendingReason): Resolution {
  return { kind: 'pending', reason }
}
