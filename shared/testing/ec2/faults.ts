import { commonFaults, type CommonFault, type FaultTable } from '../cloud-fake/faults.ts'
import type { RecordedCall } from './recorded-call.ts'

/** What only EC2's fake can be made to do with a call. */
export interface OwnFault {
  readonly kind: 'error'
  readonly code: string
  readonly status?: number
  readonly message?: string
}

/** What can go wrong, one call at a time; given to `Ec2Fake.inject`. */
export type Fault = CommonFault | OwnFault

export const faultTable = {
  throttle: '503 RequestLimitExceeded, nothing done; with Retry-After where `retryAfterSeconds` is given',
  error: 'any `code`, `status` and `message`, nothing done',
  ...commonFaults,
} as const satisfies FaultTable<Fault['kind']>

/** Lasting conditions are not faults of a call and have methods of their own on `Ec2Fake`. */
export const conditionTable = {
  deny: 'UnauthorizedOperation for every write that names one of these volumes; `allow` ends it',
  fill: 'the volume has 50 user tags and 10 of AWS’s own: not one more can be added',
  readLagMs: 'reads lag behind writes by as much',
  youngVolumeMs: 'volumes that are added are not found for as long',
  buckets: 'EC2’s own request buckets are enforced',
  namesMissing: 'whether InvalidVolume.NotFound names the ids (it does, as EC2’s)',
  namesDenied: 'whether UnauthorizedOperation names an id (it does not: EC2’s does in some answers only)',
} as const satisfies FaultTable

export interface FaultScope {
  /** Such as `CreateTags`; any action where it is missing. */
  readonly action?: string
  /** Calls that name at least one of these volumes; any call where it is missing. */
  readonly ids?: readonly string[]
  /** How many calls it hits; 1 where it is missing. */
  readonly times?: number
}

export function hits({ action, ids }: FaultScope, call: RecordedCall): boolean {
  if (action !== undefined && action !== call.action) return false
  return ids === undefined || call.ids.some((id) => ids.includes(id))
}
