import type { ClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import { resolveDisk } from '@k8s-cloud-tagger/shared/claims/resolve.ts'
import { pause } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import { hasDrifted, isComparable } from '@k8s-cloud-tagger/shared/tagger/drift.ts'
import type { DriftInput } from '@k8s-cloud-tagger/shared/tagger/drift.ts'
import { isManaged } from '@k8s-cloud-tagger/shared/tagger/tagging-rules.ts'
import type { TaggingRules } from '@k8s-cloud-tagger/shared/tagger/tagging-rules.ts'
import type { ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'

export interface DriftSweepDeps extends TaggingRules {
  readonly cache: ClusterCache
  readonly clock: Clock
  /** Keys that wait for a worker. */
  readonly backlog: () => number
  /** A live change of it waits, possibly for the webhook to do it: the sweep must not overtake it. */
  readonly isOnItsWay: (key: ClaimKey) => boolean
  /** Sends a key down the path with the disk to be read. */
  readonly repair: (key: ClaimKey) => void
}

export interface SweepResult {
  readonly compared: number
  readonly drifted: number
}

/** Asked for at once; a provider cuts it into its own pages. Bounds what a sweep holds in memory. */
const disksAtOnce = 1000
/** Above this the sweep waits: what it would find is likely on its way already. */
const backlogMax = 1000
const backlogCheckMs = 1000

/** One comparison of every disk with the cloud. It writes nothing: what differs goes down the path, like everything else. */
export class DriftSweep {
  readonly #deps: DriftSweepDeps

  constructor(deps: DriftSweepDeps) {
    this.#deps = deps
  }

  /** Rejects with the ProviderError of a read that failed, or where it was aborted. */
  async run(signal: AbortSignal): Promise<SweepResult> {
    let compared = 0
    let drifted = 0
    for (const keys of chunks([...this.#deps.cache.claimKeys()], disksAtOnce)) {
      await this.#backlogGone(signal)
      signal.throwIfAborted()
      for await (const found of this.#compare(keys, signal)) {
        compared++
        if (found.drifted) {
          drifted++
          this.#deps.repair(found.key)
        }
      }
    }
    return { compared, drifted }
  }

  async *#compare(
    keys: readonly ClaimKey[],
    signal: AbortSignal,
  ): AsyncIterable<{ readonly key: ClaimKey; readonly drifted: boolean }> {
    const { provider, clock } = this.#deps
    const readAtMs = clock.wallMs()
    const byDisk = new Map<string, ClaimKey[]>()
    for (const key of keys) {
      const known = this.#comparable(key, readAtMs)
      if (known !== undefined) byDisk.set(known.disk.id, [...(byDisk.get(known.disk.id) ?? []), key])
    }
    const disks = [...byDisk.keys()].map((id) => ({ id }))
    if (disks.length === 0) return
    for await (const { disk, observed } of provider.listTags(disks, { signal, lane: 'bulk' })) {
      for (const key of byDisk.get(disk.id) ?? []) {
        // As it is now: the claim may have changed while the pages came in.
        const known = this.#comparable(key, readAtMs)
        if (known?.disk.id === disk.id) yield { key, drifted: hasDrifted(known, observed.tags, this.#deps) }
      }
    }
  }

  #comparable(key: ClaimKey, readAtMs: number): DriftInput | undefined {
    const { cache, cloud, isOnItsWay } = this.#deps
    if (isOnItsWay(key)) return undefined
    const claim = cache.claimNow(key)
    const volume = claim?.volumeName === undefined ? undefined : cache.volumeNow(claim.volumeName)
    const resolution = resolveDisk(claim, volume, cloud)
    if (resolution.kind !== 'ready') return undefined
    const input = { ...resolution, namespace: cache.namespaceNow(resolution.claim.namespace) }
    return isManaged(input, this.#deps) && isComparable(input, readAtMs, this.#deps) ? input : undefined
  }

  async #backlogGone(signal: AbortSignal): Promise<void> {
    while (this.#deps.backlog() > backlogMax && !signal.aborted) await pause(this.#deps.clock, backlogCheckMs, signal)
  }
}

function* chunks<T>(items: readonly T[], size: number): Iterable<readonly T[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size)
}
