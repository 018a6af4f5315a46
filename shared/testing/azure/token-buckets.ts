import type { Clock } from '../../src/runtime/clock.ts'
import { ArmFault } from './arm-fault.ts'

interface BucketSize {
  readonly burst: number
  readonly perSecond: number
  /** The header that says how much is left. */
  readonly header: string
}

/** One identity's buckets in one subscription and region; Resource Graph's is its own. */
const sizes = {
  reads: { burst: 250, perSecond: 25, header: 'x-ms-ratelimit-remaining-subscription-reads' },
  writes: { burst: 200, perSecond: 10, header: 'x-ms-ratelimit-remaining-subscription-writes' },
  graph: { burst: 15, perSecond: 3, header: 'x-ms-user-quota-remaining' },
} as const satisfies Readonly<Record<string, BucketSize>>

export type BucketName = keyof typeof sizes

export class TokenBuckets {
  readonly #clock: Clock
  readonly #levels = new Map<string, { readonly tokens: number; readonly atMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes a token for a call. Throws 429, with how long to wait, where there is none. */
  take(name: BucketName, subscription: string): void {
    const { burst, perSecond } = sizes[name]
    const key = name === 'graph' ? name : `${name} ${subscription}`
    const nowMs = this.#clock.monotonicMs()
    const level = this.#levels.get(key) ?? { tokens: burst, atMs: nowMs }
    const tokens = Math.min(burst, level.tokens + ((nowMs - level.atMs) / 1000) * perSecond)
    this.#levels.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: nowMs })
    if (tokens < 1) throw tooManyRequests(name, Math.ceil((1 - tokens) / perSecond))
  }

  /** What is left of a bucket after the last call, as a header. */
  header(name: BucketName, subscription: string): Readonly<Record<string, string>> {
    const { burst, header } = sizes[name]
    const level = this.#levels.get(name === 'graph' ? name : `${name} ${subscription}`)
    return { [header]: String(Math.floor(level?.tokens ?? burst)) }
  }
}

export function tooManyRequests(name: BucketName, retryAfterSeconds: number | undefined): ArmFault {
  const code = name === 'graph' ? 'RateLimiting' : 'TooManyRequests'
  const headers = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }
  return new ArmFault(429, code, 'The request is being throttled, since a limit of requests is exceeded.', headers)
}
