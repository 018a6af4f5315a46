import type { CallRate } from '../account-budget.ts'

/** The operations that we call, as EC2 names them; EC2 throttles each by itself. */
export type Ec2Operation = 'DescribeVolumes' | 'CreateTags' | 'DeleteTags'

export type BudgetProfile = 'shared' | 'exclusive'

/**
 * What an installation may use of EC2's own buckets, which an account and region has once: 100 calls and 10 a second for
 * each write, 50 and 10 for DescribeVolumes by id. `shared` leaves most of it to the CSI drivers, autoscalers and people
 * of every other cluster in the account; `exclusive` leaves a fifth.
 */
export const budgetProfiles: Readonly<Record<BudgetProfile, Readonly<Record<Ec2Operation, CallRate>>>> = {
  shared: {
    DescribeVolumes: { burst: 20, perSecond: 4 },
    CreateTags: { burst: 20, perSecond: 2 },
    DeleteTags: { burst: 20, perSecond: 2 },
  },
  exclusive: {
    DescribeVolumes: { burst: 40, perSecond: 8 },
    CreateTags: { burst: 80, perSecond: 8 },
    DeleteTags: { burst: 80, perSecond: 8 },
  },
}
