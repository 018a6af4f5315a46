import type { ClaimKey } from '../claims/claim-key.ts'
import type { Claim } from '../claims/claim.ts'
import type { NamespaceInfo } from '../claims/namespace.ts'
import type { Volume } from '../claims/volume.ts'

/**
 * What a call to the API server is for. Foreground: a fresh change waits for it. Bulk: the same for the bulk lane.
 * Housekeeping: settles and Events, which wait for everything else.
 */
export type CallPriority = 'foreground' | 'bulk' | 'housekeeping'

export interface ClusterCallOptions {
  readonly signal: AbortSignal
  readonly priority: CallPriority
}

/** Where the path reads from: live objects in the webhook, caches in the reconciler. Throws KubernetesError. */
export interface ClusterReader {
  /** Undefined where there is none. */
  claim(key: ClaimKey, options: ClusterCallOptions): Promise<Claim | undefined>
  volume(name: string, options: ClusterCallOptions): Promise<Volume | undefined>
  /** Asked only where a rule reads the namespace's labels. */
  namespace(name: string, options: ClusterCallOptions): Promise<NamespaceInfo | undefined>
}

/** Writes the applied record. Throws KubernetesError. */
export interface RecordWriter {
  /**
   * Replaces our annotation on this volume, provided that the volume's uid, its claimRef's uid and the annotation's
   * present value are still those of `volume`; otherwise 'conflict', or 'not-found' where the volume is gone.
   * Resolves to the volume as it is now. A function is asked for the record when the call leaves, so that a time in it is
   * not older than that.
   */
  writeRecord(volume: Volume, applied: string | (() => string), options: ClusterCallOptions): Promise<Volume>
}

export interface ClaimEvent {
  readonly type: 'Normal' | 'Warning'
  /** One word in CamelCase, such as `Tagged`. */
  readonly reason: string
  /** At most 1,024 bytes are kept; the recorder cuts. */
  readonly note: string
}

/** Best effort: never throws, never waits, deduplicates, and drops under load. */
export interface EventSink {
  record(claim: Claim, event: ClaimEvent): void
}
