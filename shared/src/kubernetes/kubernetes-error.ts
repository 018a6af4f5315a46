/** What a failed call to the API server means; status codes are translated in one place and nowhere else. */
export type KubernetesErrorKind =
  /** 404. */
  | 'not-found'
  /** 409, or a JSON patch whose `test` did not hold: the object is not what we took it for. */
  | 'conflict'
  /** 410: the resource version is too old to watch or page from. */
  | 'gone'
  /** 429: priority and fairness; may carry `retryAfterMs`. */
  | 'throttled'
  /** 401 or 403. */
  | 'denied'
  /** Another 4xx. */
  | 'invalid'
  /** 5xx, network or time-out. */
  | 'unavailable'

export const kubernetesErrorKinds: readonly KubernetesErrorKind[] = [
  'not-found',
  'conflict',
  'gone',
  'throttled',
  'denied',
  'invalid',
  'unavailable',
]

export class KubernetesError extends Error {
  override readonly name = 'KubernetesError'
  readonly kind: KubernetesErrorKind
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined

  constructor(
    kind: KubernetesErrorKind,
    message: string,
    options: { readonly status?: number; readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.status = options.status
    this.retryAfterMs = options.retryAfterMs
  }
}
