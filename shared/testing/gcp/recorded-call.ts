import type { LoggedCall } from '../cloud-fake/call-log.ts'

export interface RecordedCall extends LoggedCall {
  /** Google's name, such as `disks.setLabels`. */
  readonly operation: string
  readonly method: string
  /** With its query. */
  readonly path: string
  /** The disk's id, for a call that names one. */
  readonly disk: string | undefined
  readonly body: string
  /** Of the headers only these. */
  readonly fieldMask: string | undefined
  readonly authorization: string | undefined
}
