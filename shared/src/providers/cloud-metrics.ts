import type { ProviderName } from './provider.ts'
import type { ProviderErrorKind } from './provider-error.ts'

export interface CloudCall {
  readonly provider: ProviderName
  /** The cloud's own name of it, such as `CreateTags`. */
  readonly operation: string
  readonly outcome: ProviderErrorKind | 'ok'
  readonly seconds: number
}

/** Where cloud calls are counted. Labels are small closed sets, but for the vendor's code of a failure nobody knows. */
export interface CloudMetrics {
  /** Once for every call that was sent. */
  called(call: CloudCall): void
  throttled(call: { readonly provider: ProviderName; readonly scope: string; readonly operation: string }): void
  /** A code that no table knows: the call counts as 'unavailable', and this shows its name. */
  unknownCode(call: { readonly provider: ProviderName; readonly operation: string; readonly code: string }): void
}

export const noCloudMetrics: CloudMetrics = {
  called() {},
  throttled() {},
  unknownCode() {},
}
