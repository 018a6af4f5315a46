import type { Claim } from '@k8s-cloud-tagger/shared/claims/claim.ts'
import type { ClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import type { Volume } from '@k8s-cloud-tagger/shared/claims/volume.ts'
import type { ReflectorStore } from '@k8s-cloud-tagger/shared/kubernetes/reflected-set.ts'
import { Allowance } from '@k8s-cloud-tagger/shared/queue/allowance.ts'
import type { Hints } from '@k8s-cloud-tagger/shared/queue/hints.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import { claimKeyOf } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'
import type { ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'

/** Where keys go while this process leads. */
export interface Door {
  /** A change that was seen live, and that the webhook may be handling. */
  changed(claim: Claim): void
  /** Was there when the door opened. */
  known(key: ClaimKey): void
  /** Something about its volume changed, most often by the webhook's own hand. */
  look(key: ClaimKey): void
  /** The labels of its namespace changed, or another volume of its disk went: nobody else sees that. */
  reconsider(key: ClaimKey): void
  /** The claim is gone. */
  gone(key: ClaimKey): void
}

/** Feeds the cache from the watches and, while a door is open, drops the keys of what changed through it. */
export class Sources {
  readonly #cache: ClusterCache
  #door: Door | undefined
  readonly claims: ReflectorStore<Claim>
  readonly volumes: ReflectorStore<Volume>
  readonly namespaces: ReflectorStore<NamespaceInfo>
  readonly #synced: { claims: boolean; volumes: boolean; namespaces: boolean }

  constructor(cache: ClusterCache, { needsNamespaces }: { readonly needsNamespaces: boolean }) {
    this.#cache = cache
    this.#synced = { claims: false, volumes: false, namespaces: !needsNamespaces }
    this.claims = {
      onAdd: (claim) => this.#claimSeen(claim, undefined),
      onUpdate: (claim, previous) => this.#claimSeen(claim, previous),
      onDelete: (claim) => {
        cache.dropClaim(claim)
        this.#door?.gone(claim.key)
        const volume = claim.volumeName === undefined ? undefined : cache.volumeNow(claim.volumeName)
        if (volume !== undefined) this.#reconsiderSharers(volume)
      },
      onSynced: () => (this.#synced.claims = true),
    }
    this.volumes = {
      onAdd: (volume) => this.#volumeSeen(volume),
      onUpdate: (volume) => this.#volumeSeen(volume),
      onDelete: (volume) => {
        const sharers = cache.sharersOf(volume)
        cache.dropVolume(volume)
        this.#lookAtClaimOf(volume)
        for (const sharer of sharers) this.#reconsiderClaimOf(sharer)
      },
      onSynced: () => (this.#synced.volumes = true),
    }
    this.namespaces = {
      onAdd: (namespace) => this.#namespaceSeen(namespace, undefined),
      onUpdate: (namespace, previous) => this.#namespaceSeen(namespace, previous),
      onDelete: (namespace) => cache.dropNamespace(namespace),
      onSynced: () => (this.#synced.namespaces = true),
    }
  }

  get synced(): boolean {
    return this.#synced.claims && this.#synced.volumes && this.#synced.namespaces
  }

  /** Everything known so far goes through first. Returns the function that closes the door. */
  open(door: Door): () => void {
    for (const key of this.#cache.claimKeys()) door.known(key)
    this.#door = door
    return () => (this.#door = undefined)
  }

  #claimSeen(claim: Claim, previous: Claim | undefined): void {
    this.#cache.putClaim(claim)
    if (previous === undefined || differs(claim, previous)) this.#door?.changed(claim)
  }

  #volumeSeen(volume: Volume): void {
    if (!this.#cache.putVolume(volume)) return
    this.#lookAtClaimOf(volume)
    this.#reconsiderSharers(volume)
  }

  #namespaceSeen(namespace: NamespaceInfo, previous: NamespaceInfo | undefined): void {
    this.#cache.putNamespace(namespace)
    if (this.#door === undefined || (previous !== undefined && sameEntries(namespace.labels, previous.labels))) return
    for (const key of this.#cache.claimKeys()) {
      if (this.#cache.claimNow(key)?.namespace === namespace.name) this.#door.reconsider(key)
    }
  }

  #reconsiderSharers(volume: Volume): void {
    for (const sharer of this.#cache.sharersOf(volume)) this.#reconsiderClaimOf(sharer)
  }

  #reconsiderClaimOf(volume: Volume): void {
    const key = claimKeyOf(volume)
    if (key !== undefined && this.#cache.claimNow(key) !== undefined) this.#door?.reconsider(key)
  }

  /** Most changes of a volume are the webhook's own records: the pass that follows finds them fulfilled and ends. */
  #lookAtClaimOf(volume: Volume): void {
    const key = claimKeyOf(volume)
    if (key !== undefined && this.#cache.claimNow(key) !== undefined) this.#door?.look(key)
  }
}

/** What tags come from, and what leads to the disk. All of it calls the webhook too. */
function differs(claim: Claim, previous: Claim): boolean {
  return (
    claim.volumeName !== previous.volumeName ||
    claim.deleting !== previous.deleting ||
    !sameEntries(claim.labels, previous.labels) ||
    // Those that a rule reads: no others are kept.
    !sameEntries(claim.annotations, previous.annotations)
  )
}

function sameEntries(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key])
}

/** More live changes than these from one namespace are bulk work: nobody else's wait behind them. */
const namespaceFresh = { burst: 2000, perSecond: 20 }

export interface QueueDoorOptions {
  readonly clock: Clock
  readonly add: (key: ClaimKey, hints: Hints, delayMs: number) => void
  readonly onGone: (key: ClaimKey) => void
  /** The time that the webhook has for itself, in milliseconds; 0 where there is none. */
  readonly headStartMs: number
  /** Whether the webhook is called for claims in this namespace. */
  readonly inWebhookScope: (namespace: string) => boolean
}

export function queueDoor({ clock, add, onGone, headStartMs, inWebhookScope }: QueueDoorOptions): Door {
  const fresh = new Allowance<string>({ clock, ...namespaceFresh })
  return {
    changed: (claim) => {
      const lane = fresh.take(claim.namespace) ? 'fresh' : 'bulk'
      const expectWebhook = headStartMs > 0 && inWebhookScope(claim.namespace)
      add(claim.key, expectWebhook ? { lane, expectWebhook } : { lane }, expectWebhook ? headStartMs : 0)
    },
    known: (key) => add(key, { lane: 'bulk' }, 0),
    look: (key) => add(key, { lane: 'bulk' }, headStartMs),
    reconsider: (key) => add(key, { lane: 'bulk' }, 0),
    gone: onGone,
  }
}
