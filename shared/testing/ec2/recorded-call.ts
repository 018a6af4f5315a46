import type { CallCount as CommonCount, LoggedCall } from '../cloud-fake/call-log.ts'

export interface RecordedCall extends LoggedCall {
  readonly action: string
  /** The volumes that the call names, by id or by a volume-id filter. */
  readonly ids: readonly string[]
  /** The form without its list of ids. */
  readonly parameters: Readonly<Record<string, string>>
}

export interface CallCount extends CommonCount {
  /** Volumes named, summed over the calls. */
  disks: number
}
