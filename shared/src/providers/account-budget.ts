import type { Clock } from '../runtime/clock.ts'
import { pause } from '../runtime/clock.ts'
import type { Lane } from './provider.ts'
import { TokenBucket } from './token-bucket.ts'
import { potPart } from './token-pot.ts'
import type { OpenPot, TokenPot } from './token-pot.ts'

/** What an operation of one account scope may use. */
export interface CallRate {
  readonly burst: number
  readonly perSecond: number
}

/** Tokens by operation. */
export type CallNeeds = ReadonlyMap<string, number>

export interface BucketStatus {
  readonly operation: string
  readonly burst: number
  readonly ratePerSecond: number
  readonly tokens: number
}

/** Calls that could be made at once now, and that could be after a long rest. */
export interface CallsLeft {
  readonly calls: number
  readonly burst: number
}

/** An empty pot is not asked again before this. */
const drawAgainMs = 200
/** What was drawn and not used by then is void: nobody else could use it meanwhile. */
const grantLastsMs = 5_000
/** The cloud has less than the pot believes. */
const noDrawAfterThrottleMs = 30_000
/** Clouds without sense of proportion exist; a pause longer than this would look like a hang. */
const longestPauseMs = 3_600_000

/**
 * The calls that this process may make in one account scope: a bucket for each operation, since that is how clouds
 * count, and one pause for all of them, since a Retry-After is meant for the whole caller.
 *
 * Bulk leaves the last quarter of every burst to fresh changes.
 */
export class AccountBudget {
  readonly #clock: Clock
  readonly #buckets: ReadonlyMap<string, TokenBucket>
  readonly #shares: ReadonlyMap<string, CallRate>
  #pot: TokenPot | undefined
  /** Operations that are being drawn for, or were in vain a moment ago: not before this (monotonic). */
  readonly #drawAgainMs = new Map<string, number>()
  #onGrant: () => void = () => {}
  #pausedUntilMs = 0

  /** `share` in (0, 1] is this process's part of what the installation may use. */
  constructor(options: {
    readonly clock: Clock
    readonly rates: Readonly<Record<string, CallRate>>
    readonly share: number
    /** Where there is one, the process has only a part of its share for itself. */
    readonly openPot?: OpenPot | undefined
  }) {
    const { clock, rates, share, openPot } = options
    if (!(share > 0 && share <= 1)) throw new RangeError(`share must be above 0 and at most 1, not ${share}`)
    this.#clock = clock
    this.#shares = scaled(rates, share)
    this.#pot = share < 1 ? openPot?.(Object.fromEntries(scaled(rates, potPart))) : undefined
    const own = this.#pot === undefined ? this.#shares : scaled(rates, share * (1 - potPart))
    this.#buckets = new Map(Array.from(own, ([operation, rate]) => [operation, new TokenBucket({ clock, ...rate })]))
  }

  /** Calls back when more can be sent than the last answer said. */
  whenGranted(callback: () => void): void {
    const earlier = this.#onGrant
    this.#onGrant = () => {
      earlier()
      callback()
    }
  }

  /** Takes all of `needs` or nothing. Returns 0 when taken, else the milliseconds after which to ask again. */
  tryTake(needs: CallNeeds, lane: Lane): number {
    const waitMs = this.waitMs(needs, lane)
    for (const [operation, count] of needs) this.#drawFor(operation, count, lane)
    if (waitMs === 0) for (const [operation, count] of needs) this.#bucket(operation).take(count)
    return waitMs
  }

  waitMs(needs: CallNeeds, lane: Lane): number {
    let waitMs = this.pausedForMs
    for (const [operation, count] of needs) {
      const bucket = this.#bucket(operation)
      waitMs = Math.max(waitMs, bucket.waitMs(count, reserveOf(bucket, lane)))
    }
    return waitMs
  }

  /**
   * Waits its turn for one call. False, with nothing taken, where `signal` aborts or the turn would come after
   * `untilMs` (monotonic).
   */
  async take(operation: string, options: { lane: Lane; signal: AbortSignal; untilMs?: number }): Promise<boolean> {
    const needs = new Map([[operation, 1]])
    while (!options.signal.aborted) {
      const waitMs = this.tryTake(needs, options.lane)
      if (waitMs === 0) return true
      if (this.#clock.monotonicMs() + waitMs > (options.untilMs ?? Number.POSITIVE_INFINITY)) return false
      await pause(this.#clock, waitMs, options.signal)
    }
    return false
  }

  giveBack(needs: CallNeeds): void {
    for (const [operation, count] of needs) this.#bucket(operation).giveBack(count)
  }

  /** The most calls of one kind that can be paid for at once. */
  mostAtOnce(operation: string, lane: Lane): number {
    const bucket = this.#bucket(operation)
    // Fresh work does not save up: it makes do with what is there.
    return Math.max(1, Math.floor(lane === 'fresh' ? bucket.tokens : bucket.burst - reserveOf(bucket, lane)))
  }

  /** What this lane could make at once now, and after a long rest. */
  callsLeft(operation: string, lane: Lane): CallsLeft {
    const bucket = this.#bucket(operation)
    const reserve = reserveOf(bucket, lane)
    return { calls: Math.max(0, Math.floor(bucket.tokens - reserve)), burst: bucket.burst - reserve }
  }

  /** The cloud throttled a call of this operation that was sent at `sentAtMs`. */
  throttled(operation: string, answer: { readonly sentAtMs: number; readonly retryAfterMs: number | undefined }): void {
    this.#bucket(operation).slowDown(answer.sentAtMs)
    this.#drawAgainMs.set(operation, this.#clock.monotonicMs() + noDrawAfterThrottleMs)
    const pauseMs = Math.min(Math.max(0, answer.retryAfterMs ?? 0), longestPauseMs)
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.monotonicMs() + pauseMs)
  }

  get pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.monotonicMs())
  }

  status(): readonly BucketStatus[] {
    return [...this.#buckets].map(([operation, { burst, ratePerSecond, tokens }]) => ({
      operation,
      burst,
      ratePerSecond,
      tokens,
    }))
  }

  /** Before the own tokens are spent, so that nothing waits for the pot's answer while there are some. */
  #drawFor(operation: string, count: number, lane: Lane): void {
    const bucket = this.#bucket(operation)
    const nowMs = this.#clock.monotonicMs()
    if (this.#pot === undefined || bucket.tokens - count > bucket.burst / 2) return
    if (nowMs < (this.#drawAgainMs.get(operation) ?? 0)) return
    this.#drawAgainMs.set(operation, Number.POSITIVE_INFINITY)
    const want = Math.max(count, Math.ceil(bucket.burst))
    void this.#pot.draw(operation, want, lane).then((drawn) => this.#drawn(operation, drawn))
  }

  #drawn(operation: string, drawn: number | undefined): void {
    const nowMs = this.#clock.monotonicMs()
    this.#drawAgainMs.set(operation, drawn === 0 ? nowMs + drawAgainMs : nowMs)
    if (drawn === undefined) {
      this.#pot = undefined
      for (const [name, rate] of this.#shares) this.#bucket(name).resize(rate)
    } else if (drawn > 0) {
      this.#bucket(operation).grant(drawn, nowMs + grantLastsMs)
    }
    if (drawn !== 0) this.#onGrant()
  }

  #bucket(operation: string): TokenBucket {
    const bucket = this.#buckets.get(operation)
    if (bucket === undefined) throw new Error(`no rate was given for ${operation}`)
    return bucket
  }
}

function scaled(rates: Readonly<Record<string, CallRate>>, factor: number): ReadonlyMap<string, CallRate> {
  return new Map(
    Object.entries(rates).map(([operation, { burst, perSecond }]) => [
      operation,
      { burst: burst * factor, perSecond: perSecond * factor },
    ]),
  )
}

function reserveOf(bucket: TokenBucket, lane: Lane): number {
  return lane === 'fresh' ? 0 : Math.min(bucket.burst / 4, bucket.burst - 1)
}
