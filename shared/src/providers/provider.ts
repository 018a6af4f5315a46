import type { DiskRef } from '../claims/disk.ts'
import type { TagChanges } from '../plan/tag-changes.ts'
import type { TagProblem, TagSet } from '../tags/tag-set.ts'

export type ProviderName = 'mock' | 'aws' | 'gcp' | 'azure'

/** Fresh: a live change of one claim. Bulk: start, sweep, namespace, rules. Fresh goes first and keeps a share of every budget. */
export type Lane = 'fresh' | 'bulk'

export interface CallOptions {
  /** Aborted at shutdown: a call that was not sent yet is given up with 'unavailable' and `outcomeUnknown: false`. */
  readonly signal: AbortSignal
  readonly lane: Lane
}

export interface WriteOptions extends CallOptions {
  /**
   * Called once, when the write is next to leave, so that no promise to write is recorded while a job only waits for its
   * turn. Returns the monotonic time (ms) after which no call for this write may be *sent* any more; when that has
   * passed, the write ends with 'unavailable' and `outcomeUnknown: false` unless an earlier call's outcome is unknown.
   * When it rejects, this disk is left out and `applyChanges` rejects with that same reason; other disks go on.
   */
  readonly beforeSend?: () => Promise<number>
}

/** All tags of a disk as one read saw them, foreign ones included. */
export interface ObservedTags {
  readonly tags: TagSet
  /** What a cloud that replaces the whole set needs to see that nothing changed since (GCP's label fingerprint). */
  readonly etag?: string
}

/**
 * One cloud's disks. Everything that a method throws is a ProviderError, and every call is bounded in time.
 *
 * Implementations may be wrapped (metered, batched, paced); a caller never needs to know.
 */
export interface DiskProvider {
  readonly name: ProviderName

  /**
   * False where the cloud merges a change on its side, so that a write of keys known to be ours needs no read before;
   * true where it replaces the whole set.
   */
  readonly replacesWholeSet: boolean

  /** How many tags a disk can hold, foreign ones included. */
  readonly tagsPerDisk: number

  /** How long this cloud's bulk read may lag behind a write, in milliseconds: younger records are no evidence of drift. */
  readonly readLagMs: number

  /** The account scope that shares a budget and a slow lane, such as `123456789012/eu-west-1`; for logs and metrics. */
  scopeOf(disk: DiskRef): string

  /**
   * Bends the wish to what this cloud can hold; pure and idempotent; says what it changed or dropped. Enforced keys win
   * every clash. The tags are in order of precedence, enforced ones first: a full disk leaves out the last.
   */
  normalize(
    desired: TagSet,
    enforced?: ReadonlySet<string>,
  ): { readonly tags: TagSet; readonly problems: readonly TagProblem[] }

  /** Never written or removed by us, in this cloud's own form: the cloud's, the CSI driver's and the cluster's keys. */
  isProtectedKey(key: string): boolean

  /** Equal for keys that this cloud takes for one, such as those that differ in case only; else the key itself. */
  canonicalKey(key: string): string

  /** Throws 'not-found' for a disk that is gone or not yet visible. */
  getTags(disk: DiskRef, options: CallOptions): Promise<ObservedTags>

  /**
   * Applies exactly these changes and touches no other tag; a key is removed only while its value is one of those given.
   * Without `observed` it conditions on recorded values alone; a cloud that replaces the whole set requires it, and
   * throws 'conflict' where the set changed since. Changes that are already in force succeed.
   */
  applyChanges(
    disk: DiskRef,
    changes: TagChanges,
    observed: ObservedTags | undefined,
    options: WriteOptions,
  ): Promise<void>

  /**
   * Bulk read of these disks for the sweep, in the cheapest calls the cloud offers and in any order; disks that are not
   * found are left out. Streamed: never holds more than a few pages. Rejects on the first page that cannot be read.
   */
  listTags(
    disks: readonly DiskRef[],
    options: CallOptions,
  ): AsyncIterable<{ readonly disk: DiskRef; readonly observed: ObservedTags }>
}
