import type { Claim } from '../claims/claim.ts'
import type { Cloud } from '../claims/disk-sources.ts'
import type { DiskRef } from '../claims/disk.ts'
import type { Volume } from '../claims/volume.ts'
import type { AppliedRecord } from '../plan/applied-record.ts'
import { ownershipOf, ownsNothing, unite } from '../plan/ownership.ts'
import type { Ownership } from '../plan/ownership.ts'
import { parseRecord } from '../plan/record-codec.ts'
import type { DiskProvider } from '../providers/provider.ts'
import { FoldedMap } from '../tags/folded-map.ts'

/** What a volume's annotation is good for. */
export type RecordBasis =
  /** Ours, of this volume and this disk. */
  | { readonly kind: 'record'; readonly record: AppliedRecord }
  | { readonly kind: 'none' }
  /**
   * Of another volume, disk or cloud: restored by a backup, copied from another cluster, applied from a file, left by a
   * trial with `mock`. It licenses no removal and is replaced.
   */
  | { readonly kind: 'foreign'; readonly record: AppliedRecord }
  /** Licenses nothing and is left as it is: a later version of this program may rest on it. */
  | { readonly kind: 'unreadable'; readonly problem: string }

/** What a provider knows about keys. */
export type CloudKeys = Pick<DiskProvider, 'isProtectedKey' | 'canonicalKey'>

export function recordBasis(volume: Volume, disk: DiskRef, cloud: Cloud): RecordBasis {
  const parsed = parseRecord(volume.applied)
  if (parsed.kind !== 'record') return parsed
  const { record } = parsed
  const isOfThisDisk = record.volumeUid === volume.uid && record.diskId === disk.id && record.cloud === cloud
  return { kind: isOfThisDisk ? 'record' : 'foreign', record }
}

/** The record that decisions may rest on. */
export function ownRecord(basis: RecordBasis): AppliedRecord | undefined {
  return basis.kind === 'record' ? basis.record : undefined
}

/** What may be removed. Protected keys never are, whatever a record says. */
export function removable(record: AppliedRecord | undefined, keys: CloudKeys): Ownership {
  if (record === undefined) return ownsNothing
  const canonicalKey = (key: string) => keys.canonicalKey(key)
  const owned = ownershipOf(record, canonicalKey)
  return new FoldedMap(
    canonicalKey,
    [...owned].filter(([key]) => !keys.isProtectedKey(key)),
  )
}

/** What is ours on a disk: by its volume's record, and by those of younger volumes that name the same disk. */
export function ownedOnDisk(
  record: AppliedRecord | undefined,
  juniors: readonly Volume[],
  { disk, cloud, keys }: { readonly disk: DiskRef; readonly cloud: Cloud; readonly keys: CloudKeys },
): Ownership {
  const owned = new FoldedMap((key) => keys.canonicalKey(key), removable(record, keys))
  for (const junior of juniors) {
    for (const [key, tag] of removable(ownRecord(recordBasis(junior, disk, cloud)), keys)) {
      owned.set(key, unite(owned.get(key), tag))
    }
  }
  return owned
}

/** A record as it is before anything was written: the start of a volume's first intent. */
export function emptyRecord(
  {
    claim,
    volume,
    disk,
    cloud,
  }: { readonly claim: Claim; readonly volume: Volume; readonly disk: DiskRef; readonly cloud: Cloud },
  nowMs: number,
): AppliedRecord {
  return {
    cloud,
    volumeUid: volume.uid,
    claimUid: claim.uid,
    diskId: disk.id,
    settledAtMs: nowMs,
    settled: new Map(),
    left: new Map(),
    intent: undefined,
  }
}
