import { commonFaults, type CommonFault, type FaultTable } from '../cloud-fake/faults.ts'
import type { RecordedCall } from './recorded-call.ts'

/** What only Google's fake can be made to do with a call. */
export type OwnFault =
  | { readonly kind: 'error'; readonly status: number; readonly reason: string; readonly message?: string }
  | { readonly kind: 'failed-operation'; readonly status: number; readonly code: string }

/** What can go wrong, one call at a time; given to `GcpFake.inject`. */
export type Fault = CommonFault | OwnFault

export const faultTable = {
  throttle: '403 rateLimitExceeded, nothing done; with Retry-After where `retryAfterSeconds` is given',
  error: 'any `status`, `reason` and `message`, nothing done',
  ...commonFaults,
  'failed-operation': 'a write is accepted, and its operation says that it failed with `status` and `code`',
} as const satisfies FaultTable<Fault['kind']>

/** Lasting conditions are not faults of a call and have methods of their own on `GcpFake`. */
export const conditionTable = {
  deny: '403 forbidden for every setLabels on one of these disks; `allow` ends it',
  fill: 'the disk has 64 labels: not one more can be added',
  operationsLastMs: 'a write takes effect only when its operation is done; meanwhile the disk is not ready for another',
  quota: '1,500 reads, lists and mutations a minute for each project are enforced',
  errorDetails: 'whether errors carry `details` with an ErrorInfo (they do, as those of newer front ends)',
  metadataIsDown: 'the metadata server answers 503, as it does for some seconds after a pod’s start',
} as const satisfies FaultTable

export interface FaultScope {
  /** Such as `disks.setLabels`, or only `setLabels` for zones and regions alike; any where it is missing. */
  readonly operation?: string
  /** Calls that name one of these disks; any call where it is missing. */
  readonly ids?: readonly string[]
  /** How many calls it hits; 1 where it is missing. */
  readonly times?: number
}

export function hits({ ids, operation }: FaultScope, call: RecordedCall): boolean {
  if (operation !== undefined && operation !== call.operation && !call.operation.endsWith(`.${operation}`)) return false
  return ids === undefined || (call.disk !== undefined && ids.includes(call.disk))
}
