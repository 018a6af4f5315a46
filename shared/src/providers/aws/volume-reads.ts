import type { ObservedTags } from '../provider.ts'
import { ProviderError } from '../provider-error.ts'
import type { Pace } from '../read-batcher.ts'
import type { VolumePage, VolumeQuery } from './ec2-api.ts'
import { idsPerFilter } from './ec2-limits.ts'
import { volumesNamedIn } from './errors.ts'

/** So often the missing are left out by name before reading by filter, which does not mind them. */
const namedTriesMax = 3

export type Describe = (query: VolumeQuery) => Promise<VolumePage>

/**
 * The tags of these volumes, at most 500, in as few calls as it takes; `pace` is awaited before every call but the
 * first. Volumes that do not exist are not in the answer.
 *
 * By id first, since most are known alive and one call then does for all. A missing one fails that call, mostly by name.
 */
export async function readVolumes(
  ids: readonly string[],
  describe: Describe,
  pace: Pace,
): Promise<ReadonlyMap<string, ObservedTags>> {
  const found = new Map<string, ObservedTags>()
  let left = ids
  for (let attempt = 0; attempt < namedTriesMax && left.length > 0; attempt++) {
    if (attempt > 0) await pace()
    try {
      await readPages({ how: 'by-id', ids: left }, found, { describe, pace })
      return found
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind !== 'not-found') throw error
      const named = volumesNamedIn(error)
      const rest = left.filter((id) => !named.has(id))
      if (rest.length === left.length) break
      left = rest
    }
  }
  for (let at = 0; at < left.length; at += idsPerFilter) {
    await pace()
    await readPages({ how: 'filter', ids: left.slice(at, at + idsPerFilter) }, found, { describe, pace })
  }
  return found
}

async function readPages(
  query: VolumeQuery,
  found: Map<string, ObservedTags>,
  { describe, pace }: { readonly describe: Describe; readonly pace: Pace },
): Promise<void> {
  let page = await describe(query)
  for (;;) {
    for (const [id, tags] of page.volumes) found.set(id, { tags })
    if (page.nextToken === undefined) return
    await pace()
    page = await describe({ ...query, nextToken: page.nextToken })
  }
}
