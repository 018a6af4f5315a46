import { asProviderError } from '@k8s-cloud-tagger/shared/providers/provider-error.ts'
import type { ProviderError, ProviderErrorKind } from '@k8s-cloud-tagger/shared/providers/provider-error.ts'
import type { DiskProvider } from '@k8s-cloud-tagger/shared/providers/provider.ts'
import { pause } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { TagSet } from '@k8s-cloud-tagger/shared/tags/tag-set.ts'

export type DiskReading =
  | { readonly kind: 'tags'; readonly tags: TagSet }
  /** Every call was answered and this disk was in no answer. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly error: ProviderErrorKind; readonly message: string; readonly scope: string }

export interface ReadDisksDeps {
  readonly provider: Pick<DiskProvider, 'listTags' | 'scopeOf'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called as answers come in, with how many disks are known so far. */
  readonly onProgress?: (done: number) => void
}

const triesMax = 4
const firstDelayMs = 1000
/** What a cloud asks for may be minutes; more than this is not waited out. */
const longestDelayMs = 120_000

/**
 * The tags of these disks, in the bulk calls of a sweep. First all together, as that takes the fewest calls; where that
 * fails for good, scope by scope, so that one account or group that cannot be read does not lose the rest. Every disk
 * that was asked for is in the answer. Rejects only where it was aborted.
 */
export async function readDisks(
  disks: readonly string[],
  deps: ReadDisksDeps,
): Promise<ReadonlyMap<string, DiskReading>> {
  const readings = new Map<string, DiskReading>()
  const ids = [...new Set(disks)]
  const failure = await readInto(readings, ids, deps)
  if (failure === undefined) return readings
  const scopes = Map.groupBy(
    ids.filter((id) => !readings.has(id)),
    (id) => deps.provider.scopeOf({ id }),
  )
  for (const [scope, members] of scopes) {
    // A scope that has just failed alone need not fail again.
    const error = scopes.size === 1 ? failure : await readInto(readings, members, deps)
    if (error === undefined) continue
    for (const id of members.filter((each) => !readings.has(each))) {
      readings.set(id, { kind: 'failed', error: error.kind, message: error.message, scope })
    }
  }
  return readings
}

/** Resolves to why not all of them could be read; what was read until then is kept. */
async function readInto(
  readings: Map<string, DiskReading>,
  ids: readonly string[],
  { provider, clock, signal, onProgress }: ReadDisksDeps,
): Promise<ProviderError | undefined> {
  for (let tries = 1; ; tries++) {
    const left = ids.filter((id) => !readings.has(id)).map((id) => ({ id }))
    try {
      for await (const { disk, observed } of provider.listTags(left, { signal, lane: 'bulk' })) {
        readings.set(disk.id, { kind: 'tags', tags: observed.tags })
        onProgress?.(readings.size)
      }
      for (const { id } of left) if (!readings.has(id)) readings.set(id, { kind: 'missing' })
      onProgress?.(readings.size)
      return undefined
    } catch (thrown) {
      signal.throwIfAborted()
      const error = asProviderError(thrown)
      const delayMs = Math.max(firstDelayMs * 2 ** (tries - 1), error.retryAfterMs ?? 0)
      if (!passes(error) || tries === triesMax || delayMs > longestDelayMs) return error
      await pause(clock, delayMs, signal)
      signal.throwIfAborted()
    }
  }
}

function passes({ kind }: ProviderError): boolean {
  return kind === 'throttled' || kind === 'unavailable'
}
