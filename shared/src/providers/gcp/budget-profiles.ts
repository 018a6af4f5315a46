import type { CallRate } from '../account-budget.ts'

/** The calls that we make, by the permission that each needs; a regional disk needs the same as a zonal one. */
export type ComputeOperation = 'disks.get' | 'disks.list' | 'disks.setLabels'

export type BudgetProfile = 'shared' | 'exclusive'

/**
 * What an installation may use of a project's quota: classically 1,500 reads, 1,500 lists and 1,500 mutations a minute,
 * counted by synchronised minutes, so that a burst and a minute of the rate must fit in together. `shared` leaves four
 * fifths to the CSI drivers, autoscalers and people of every other cluster in the project; `exclusive` leaves a tenth.
 */
export const budgetProfiles: Readonly<Record<BudgetProfile, Readonly<Record<ComputeOperation, CallRate>>>> = {
  shared: {
    'disks.get': { burst: 60, perSecond: 4 },
    'disks.list': { burst: 30, perSecond: 2 },
    'disks.setLabels': { burst: 60, perSecond: 4 },
  },
  exclusive: {
    'disks.get': { burst: 300, perSecond: 18 },
    'disks.list': { burst: 60, perSecond: 4 },
    'disks.setLabels': { burst: 300, perSecond: 18 },
  },
}
