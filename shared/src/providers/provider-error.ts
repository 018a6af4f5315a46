/** What a failed cloud call means to the path. The vendor's own codes are translated in each provider's `errors.ts`. */
export type ProviderErrorKind =
  /** Slow down; may carry `retryAfterMs`. The whole account scope pauses. */
  | 'throttled'
  /** 5xx, network, time-out, or a code that no table knows. Whether a write took place is unknown. */
  | 'unavailable'
  /** The tags changed between read and write. */
  | 'conflict'
  /** The disk is gone, or too new to be seen. */
  | 'not-found'
  /** Credentials or permission. */
  | 'denied'
  /** The cloud refuses these tags on this disk. */
  | 'invalid'

export const providerErrorKinds: readonly ProviderErrorKind[] = [
  'throttled',
  'unavailable',
  'conflict',
  'not-found',
  'denied',
  'invalid',
]

export interface ProviderErrorOptions {
  readonly cause?: unknown
  /** The vendor's own code, for the log. */
  readonly code?: string
  /** How long the cloud asked us to wait, in milliseconds. */
  readonly retryAfterMs?: number
  /**
   * True where the call may have changed the disk, now or later (a time-out, a lost answer). False where the cloud
   * answered that it did nothing, or the call was never sent.
   */
  readonly outcomeUnknown?: boolean
}

export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly kind: ProviderErrorKind
  readonly code: string | undefined
  readonly retryAfterMs: number | undefined
  readonly outcomeUnknown: boolean

  constructor(kind: ProviderErrorKind, message: string, options: ProviderErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.code = options.code
    this.retryAfterMs = options.retryAfterMs
    this.outcomeUnknown = options.outcomeUnknown ?? false
  }
}

/** Everything that is thrown across the provider's wall is a ProviderError; this keeps that true for what slipped by. */
export function asProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ProviderError('unavailable', message, { cause: error, outcomeUnknown: true })
}
