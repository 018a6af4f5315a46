import type { Lane } from '../providers/provider.ts'

/**
 * What a door knows about a key beside the key itself. Hints never say what happened, only how careful the worker has
 * to be; the worker reads the present. When two entries for one key meet, the stricter of each stays.
 */
export interface Hints {
  readonly lane: Lane
  /**
   * The worker waits until the store holds a version later than this one: admission runs before storage. Decimal, as the
   * API server's resource versions are (comparable since Kubernetes 1.35, and in every etcd-backed server before).
   */
  readonly newerThan?: string
  /** The worker waits for a claim with this uid: a claim may be made again under its old name. */
  readonly uid?: string
  /** The volume the claim named, so that both objects can be read at once; only a guess, checked against the claim. */
  readonly volumeName?: string
  /** Drift is suspected: the disk is read even where the record would do. */
  readonly observe?: boolean
  /** A live change that the reconciler saw and that the webhook should have handled. */
  readonly expectWebhook?: boolean
}

/** `later` arrived after `earlier`: its uid and volume are the newer knowledge. */
export function mergeHints(earlier: Hints, later: Hints): Hints {
  const newerThan = laterVersion(earlier.newerThan, later.newerThan)
  const uid = later.uid ?? earlier.uid
  const volumeName = later.volumeName ?? earlier.volumeName
  return {
    lane: earlier.lane === 'fresh' || later.lane === 'fresh' ? 'fresh' : 'bulk',
    ...(newerThan !== undefined && { newerThan }),
    ...(uid !== undefined && { uid }),
    ...(volumeName !== undefined && { volumeName }),
    ...((earlier.observe === true || later.observe === true) && { observe: true }),
    ...((earlier.expectWebhook === true || later.expectWebhook === true) && { expectWebhook: true }),
  }
}

/** True where `a` is a later resource version than `b`. */
export function isLaterVersion(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length
}

function laterVersion(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return isLaterVersion(a, b) ? a : b
}
