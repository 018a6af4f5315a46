import type { Clock } from '../../src/runtime/clock.ts'

export interface BucketSize {
  readonly burst: number
  readonly perSecond: number
}

/**
 * EC2's request buckets, each API its own. DescribeVolumes with neither a filter nor pagination has a smaller one;
 * a call by VolumeId alone is such a call.
 */
export const ec2Buckets: Readonly<Record<string, BucketSize>> = {
  DescribeVolumes: { burst: 100, perSecond: 20 },
  'DescribeVolumes-unpaged': { burst: 50, perSecond: 10 },
  DescribeTags: { burst: 100, perSecond: 20 },
  CreateTags: { burst: 100, perSecond: 10 },
  DeleteTags: { burst: 100, perSecond: 10 },
}

export class TokenBuckets {
  readonly #clock: Clock
  readonly #sizes: Readonly<Record<string, BucketSize>>
  readonly #levels = new Map<string, { tokens: number; atMs: number }>()

  constructor(clock: Clock, sizes: Readonly<Record<string, BucketSize>>) {
    this.#clock = clock
    this.#sizes = sizes
  }

  /** False where the bucket is empty: the call is to be refused. A name without a bucket is never refused. */
  take(name: string): boolean {
    const size = this.#sizes[name]
    if (size === undefined) return true
    const nowMs = this.#clock.monotonicMs()
    const level = this.#levels.get(name) ?? { tokens: size.burst, atMs: nowMs }
    const tokens = Math.min(size.burst, level.tokens + ((nowMs - level.atMs) / 1000) * size.perSecond)
    this.#levels.set(name, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: nowMs })
    return tokens >= 1
  }
}
