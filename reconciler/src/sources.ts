import type { Claim } from '@k8s-cloud-tagger/shared/claims/claim.ts'
import type { ClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { Volume } from '@k8s-cloud-tagger/shared/claims/volume.ts'
import type { ReflectorStore } from '@k8s-cloud-tagger/shared/kubernetes/reflected-set.ts'
import { Allowance } from '@k8s-cloud-tagger/shared/queue/allowance.ts'
import type { Hints } from '@k8s-cloud-tagger/shared/queue/hints.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import { claimKeyOf } from './cluster-cache.ts'
import type { ClusterCache } from './cluster-cache.ts'

/** Where keys go while this process leads. */
export interface Door {
  /** A change that was seen live, and that the webhook may be handling. */
  changed(claim: Claim): void
  /** Was there when the door opened. */
  known(key: ClaimKey): void
  /** Something about its volume changed, most often by the webhook's own hand. */
  look(key: ClaimKey): void
  /** The claim is gone. */
  gone(key: ClaimKey): void
}

/** Feeds the cache from the watches and, while a door is open, drops the keys of what changed through it. */
export class Sources {
  readonly #cache: ClusterCache
  #door: Door | undefined
  readonly claims: ReflectorStore<Claim>
  readonly volumes: ReflectorStore<Volume>
  readonly #synced = { claims: false, volumes: false }

  constructor(cache: ClusterCache) {
    this.#cache = cache
    this.claims = {
      onAdd: (claim) => this.#claimSeen(claim, undefined),
      onUpdate: (claim, previous) => this.#claimSeen(claim, previous),
      onDelete: (claim) => {
        cache.dropClaim(claim)
        this.#door?.gone(claim.key)
      },
      onSynced: () => (this.#synced.claims = true),
    }
    this.volumes = {
      onAdd: (volume) => this.#volumeSeen(volume),
      onUpdate: (volume) => this.#volumeSeen(volume),
      onDelete: (volume) => {
        cache.dropVolume(volume)
        this.#lookAtClaimOf(volume)
      },
      onSynced: () => (this.#synced.volumes = true),
    }
  }

  get synced(): boolean {
    return this.#synced.claims && this.#synced.volumes
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
    if (this.#cache.putVolume(volume)) this.#lookAtClaimOf(volume)
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
    !sameEntries(claim.labels, previous.labels)
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
    gone: onGone,
  }
}
