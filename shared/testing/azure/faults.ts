import { commonFaults, type CommonFault, type FaultTable } from '../cloud-fake/faults.ts'
import type { RecordedCall } from './recorded-call.ts'

/** What only Azure's fake can be made to do with a call. */
export interface OwnFault {
  readonly kind: 'error'
  readonly code?: string
  readonly status?: number
  readonly message?: string
}

/** What can go wrong, one call at a time; given to `AzureFake.inject`. */
export type Fault = CommonFault | OwnFault

export const faultTable = {
  throttle: '429, nothing done; with Retry-After where `retryAfterSeconds` is given',
  error:
    'any `code`, `status` and `message`, nothing done; without a `code` the body is no JSON, as that of some proxy',
  ...commonFaults,
} as const satisfies FaultTable<Fault['kind']>

/** Lasting conditions are not faults of a call and have methods of their own on `AzureFake`. */
export const conditionTable = {
  deny: '403 AuthorizationFailed for writes to these disks; `allow` ends it',
  denyReads: 'the same for reads',
  lockDown: '403 DenyAssignmentAuthorizationFailed for writes into this resource group',
  lock: '409 ScopeLocked for writes to this disk, or into this resource group; `unlock` ends it',
  fill: 'the disk has 50 tags: not one more can be added',
  readLagMs: 'reads, and what Merge and Delete start from, lag behind writes by as much',
  graphLagMs: 'Resource Graph lags behind writes by as much',
  buckets: 'the request buckets of ARM and of Resource Graph are enforced',
  remaining: 'what the remaining-quota headers say, whatever is true',
  acceptWrites: 'whether writes are accepted with 202, as for disks (they are), or done with 200',
} as const satisfies FaultTable

export interface FaultScope {
  /** Such as `MergeTags`; any operation where it is missing. */
  readonly operation?: string
  /** Calls about one of these disks; any call where it is missing. */
  readonly ids?: readonly string[]
  /** How many calls it hits; 1 where it is missing. */
  readonly times?: number
}

export function hits({ operation, ids }: FaultScope, call: RecordedCall): boolean {
  if (operation !== undefined && operation !== call.operation) return false
  return ids === undefined || ids.some((id) => id.toLowerCase() === call.disk?.toLowerCase())
}
