import type { CallRate } from '../account-budget.ts'

/**
 * The operations that we call. Merge and Delete are one operation to Azure: one right (`Microsoft.Resources/tags/write`)
 * and one bucket.
 */
export type ArmOperation = 'GetTags' | 'UpdateTags'
export type GraphOperation = 'QueryResources'

export type BudgetProfile = 'shared' | 'exclusive'

interface Rates {
  /** By subscription; ARM's buckets are by region too, but a disk's id does not tell its region. */
  readonly arm: Readonly<Record<ArmOperation, CallRate>>
  /** Once for an identity, however many subscriptions it reads. */
  readonly graph: Readonly<Record<GraphOperation, CallRate>>
}

/** ARM's own buckets for one identity in one subscription and region, and Resource Graph's 15 queries in 5 seconds. */
export const azureBuckets = {
  GetTags: { burst: 250, perSecond: 25 },
  UpdateTags: { burst: 200, perSecond: 10 },
  QueryResources: { burst: 15, perSecond: 3 },
} as const satisfies Readonly<Record<ArmOperation | GraphOperation, CallRate>>

/**
 * What an installation may use of them. `shared` leaves most of it to the other clusters and programs that use the same
 * identity; `exclusive` leaves a fifth.
 */
export const budgetProfiles: Readonly<Record<BudgetProfile, Rates>> = {
  shared: {
    arm: { GetTags: { burst: 100, perSecond: 10 }, UpdateTags: { burst: 40, perSecond: 2 } },
    graph: { QueryResources: { burst: 6, perSecond: 1.2 } },
  },
  exclusive: {
    arm: { GetTags: { burst: 200, perSecond: 20 }, UpdateTags: { burst: 160, perSecond: 8 } },
    graph: { QueryResources: { burst: 12, perSecond: 2.4 } },
  },
}
