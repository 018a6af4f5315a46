import type { Claim } from '../claims/claim.ts'
import type { PendingReason, SkipReason } from '../claims/resolve.ts'
import type { KubernetesErrorKind } from '../kubernetes/kubernetes-error.ts'
import type { TagChanges } from '../plan/tag-changes.ts'
import type { ProviderErrorKind } from '../providers/provider-error.ts'

/** How one pass over the path ended. What happens next is decided from it in one place, `retry-policy.ts`. */
export type Outcome =
  /** The disk was written. `recheckAfterMs` where an earlier call may still land and must be looked for. */
  | { readonly kind: 'tagged'; readonly changes: TagChanges; readonly recheckAfterMs?: number }
  /** Nothing was to do. */
  | { readonly kind: 'in-sync'; readonly recheckAfterMs?: number }
  /** Under `reportOnly`: what would have been written. */
  | { readonly kind: 'reported'; readonly changes: TagChanges }
  /** No disk yet; its arrival will be seen. */
  | { readonly kind: 'pending'; readonly reason: PendingReason }
  /** Not for us. */
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly detail?: string }
  /** The store has not reached what admission reviewed; `found` where it holds an earlier version of the claim. */
  | { readonly kind: 'stale'; readonly found: boolean }
  /** Another process has announced a change of this disk. */
  | { readonly kind: 'busy'; readonly by: string; readonly retryAfterMs: number }
  | CloudFailure
  | ClusterFailure
  /** The process is stopping. */
  | { readonly kind: 'stopped' }

export interface CloudFailure {
  readonly kind: 'cloud-failure'
  readonly reason: ProviderErrorKind
  readonly code: string | undefined
  readonly message: string
  readonly retryAfterMs: number | undefined
  /** Whether the disk may have changed all the same. */
  readonly outcomeUnknown: boolean
  /** Whether the disk was read in this pass: what a cloud refuses without a look deserves one. */
  readonly observed: boolean
  /** Undefined where the failure came before the claim was known. */
  readonly claim?: Claim
}

export interface ClusterFailure {
  readonly kind: 'cluster-failure'
  readonly reason: KubernetesErrorKind
  readonly message: string
  readonly retryAfterMs: number | undefined
}

export type OutcomeKind = Outcome['kind']

export const outcomeKinds: readonly OutcomeKind[] = [
  'tagged',
  'in-sync',
  'reported',
  'pending',
  'skipped',
  'stale',
  'busy',
  'cloud-failure',
  'cluster-failure',
  'stopped',
]
