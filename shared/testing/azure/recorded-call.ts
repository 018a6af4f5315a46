import type { LoggedCall } from '../cloud-fake/call-log.ts'

export interface RecordedCall extends LoggedCall {
  /** `GetTags`, `MergeTags`, `DeleteTags`, `ReplaceTags`, `GetDisk`, `QueryResources`, `Token`, `OpenIdConfiguration`. */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly body: string
  /** The disk that the call is about, as the URL spells it. */
  readonly disk: string | undefined
  readonly authorization: string | undefined
}

export const throttleCodes: ReadonlySet<string> = new Set(['TooManyRequests', 'RateLimiting'])
