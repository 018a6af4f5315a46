import type { Clock } from '../runtime/clock.ts'

/** A slow return: an account that just said "too much" is shared with drivers that attach volumes. */
const recoveryStepMs = 30_000
const recoveryStepFraction = 0.1
/** However often the cloud throttles, some calls must go on, or nobody would notice that it has stopped to. */
const lowestFraction = 1 / 16
/** Sums of fractions of tokens miss whole numbers by a hair. */
const epsilon = 1e-6

/**
 * Holds up to `burst` tokens and gains `ratePerSecond` of them a second; a call costs one. The rate halves when the
 * cloud throttles and comes back by a tenth of the full rate for every 30 s without a throttle.
 *
 * Computed from the clock on demand: it owns no timer.
 */
export class TokenBucket {
  readonly #clock: Clock
  #burst: number
  #fullRate: number
  #rate: number
  #tokens: number
  #filledAtMs: number
  #slowedAtMs = Number.NEGATIVE_INFINITY
  #recoveredAtMs = 0
  /** Granted on top, and void after a while: nobody else can use them. */
  #extra = 0
  #extraUntilMs = 0

  constructor(options: { readonly clock: Clock; readonly burst: number; readonly perSecond: number }) {
    this.#burst = Math.max(1, options.burst)
    this.#clock = options.clock
    this.#fullRate = options.perSecond
    this.#rate = options.perSecond
    this.#tokens = this.#burst
    this.#filledAtMs = options.clock.monotonicMs()
  }

  get burst(): number {
    return this.#burst
  }

  get tokens(): number {
    this.#advance()
    return this.#tokens + this.#extra
  }

  /** Tokens beyond the burst, to be used before `untilMs` (monotonic). */
  grant(count: number, untilMs: number): void {
    this.#advance()
    this.#extra += count
    this.#extraUntilMs = untilMs
  }

  /** From now on. What is there stays. */
  resize({ burst, perSecond }: { readonly burst: number; readonly perSecond: number }): void {
    this.#advance()
    this.#tokens += Math.max(0, burst - this.#burst)
    this.#burst = Math.max(1, burst)
    this.#rate *= perSecond / this.#fullRate
    this.#fullRate = perSecond
  }

  get ratePerSecond(): number {
    this.#advance()
    return this.#rate
  }

  /** Milliseconds until `count` tokens could be taken with `reserve` left over; 0 where they can be taken now. */
  waitMs(count: number, reserve: number): number {
    this.#advance()
    const wanted = Math.min(count + reserve, this.#burst)
    if (this.#tokens + this.#extra >= wanted - epsilon) return 0
    return Math.max(1, Math.ceil(((wanted - this.#tokens - this.#extra) / this.#rate) * 1000))
  }

  take(count: number): void {
    this.#advance()
    const fromExtra = Math.min(count, this.#extra)
    this.#extra -= fromExtra
    this.#tokens -= count - fromExtra
  }

  /** For calls that were not sent after all. */
  giveBack(count: number): void {
    this.#advance()
    this.#tokens = Math.min(this.#burst, this.#tokens + count)
  }

  /**
   * The cloud throttled a call that was sent at `sentAtMs`. Answers to calls that were under way when the rate was last
   * halved say nothing new. Our own tokens are void: the account's bucket is empty.
   */
  slowDown(sentAtMs: number): void {
    this.#advance()
    const nowMs = this.#clock.monotonicMs()
    this.#recoveredAtMs = nowMs
    if (sentAtMs < this.#slowedAtMs) return
    this.#slowedAtMs = nowMs
    this.#rate = Math.max(this.#rate / 2, this.#fullRate * lowestFraction)
    this.#tokens = Math.min(this.#tokens, 0)
    this.#extra = 0
  }

  #advance(): void {
    const nowMs = this.#clock.monotonicMs()
    while (this.#rate < this.#fullRate && nowMs - this.#recoveredAtMs >= recoveryStepMs) {
      this.#recoveredAtMs += recoveryStepMs
      this.#fill(this.#recoveredAtMs)
      this.#rate = Math.min(this.#fullRate, this.#rate + this.#fullRate * recoveryStepFraction)
    }
    this.#fill(nowMs)
    if (nowMs >= this.#extraUntilMs) this.#extra = 0
  }

  #fill(untilMs: number): void {
    const elapsedMs = Math.max(0, untilMs - this.#filledAtMs)
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsedMs / 1000) * this.#rate)
    this.#filledAtMs = Math.max(this.#filledAtMs, untilMs)
  }
}
