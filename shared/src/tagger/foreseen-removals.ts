import type { Claim } from '../claims/claim.ts'
import { resolveDisk } from '../claims/resolve.ts'
import { ownRecord, recordBasis } from './record-basis.ts'
import { isManaged, wishOf } from './tagging-rules.ts'
import type { TaggingRules } from './tagging-rules.ts'
import type { ClusterCache } from './cluster-cache.ts'

/**
 * The disks that would lose each tag if all claims came by now, from records alone: no cloud is asked. Told to the brake
 * before a term's first pass, so that a rule that went wrong costs no single tag.
 */
export function foreseenRemovals(cache: ClusterCache, tagging: TaggingRules): ReadonlyMap<string, readonly string[]> {
  const disks = new Map<string, string[]>()
  for (const key of cache.claimKeys()) {
    const claim = cache.claimNow(key)
    const found = claim === undefined ? undefined : unwishedOf(claim, cache, tagging)
    if (found === undefined) continue
    for (const tag of found.tags) {
      const known = disks.get(tag)
      if (known === undefined) disks.set(tag, [found.disk])
      else known.push(found.disk)
    }
  }
  return disks
}

function unwishedOf(
  claim: Claim,
  cache: ClusterCache,
  tagging: TaggingRules,
): { readonly disk: string; readonly tags: readonly string[] } | undefined {
  const volume = claim.volumeName === undefined ? undefined : cache.volumeNow(claim.volumeName)
  const resolution = resolveDisk(claim, volume, tagging.cloud)
  if (resolution.kind !== 'ready') return undefined
  const namespace = cache.namespaceNow(claim.namespace)
  if (!isManaged({ claim, namespace }, tagging)) return undefined
  const record = ownRecord(recordBasis(resolution.volume, resolution.disk, tagging.cloud))
  if (record === undefined) return undefined
  const wish = wishOf({ claim, namespace }, tagging)
  if (!wish.complete) return undefined
  const tags = [...record.settled].filter(([key, { before }]) => !before && !wish.tags.has(key)).map(([key]) => key)
  return { disk: resolution.disk.id, tags }
}
