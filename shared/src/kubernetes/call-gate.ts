import type { Clock, Timer } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import type { CallPriority } from '../tagger/ports.ts'
import { KubernetesError } from './kubernetes-error.ts'

export interface CallGateOptions {
  readonly clock: Clock
  readonly random: Random
  /** Calls in flight at most; default 32. */
  readonly limit?: number
  /** While fresh calls wait, one housekeeping call starts per this time; default 50 ms. */
  readonly housekeepingIntervalMs?: number
  /** How often one call is tried again after a 429; default 4. */
  readonly retries?: number
}

export interface GatedCallOptions {
  readonly signal: AbortSignal
  readonly priority: CallPriority
}

export interface CallGateStatus {
  readonly inFlight: number
  readonly waiting: number
  /** How many calls may be in flight at present. */
  readonly limit: number
  /** 429 answers since the start. */
  readonly throttled: number
}

// A server that does not say how long gets a second; one that says an hour is asked again after half a minute.
const pauseDefaultMs = 1_000
const pauseMaxMs = 30_000
// Every eighth free place goes to bulk, so that a flood of fresh changes slows it down and does not stop it.
const foregroundStreak = 7

interface Waiting {
  readonly start: () => void
}

/**
 * Priority and fairness gives a service account a share of the API server and answers 429 beyond it. This keeps us
 * below: few calls in flight, the fresh ones first. A 429 stops everything for as long as the server asks, since all our
 * calls come from the same account, and halves the calls in flight; they grow again one by one as calls succeed.
 */
export class CallGate {
  readonly #clock: Clock
  readonly #random: Random
  readonly #limitMax: number
  readonly #housekeepingIntervalMs: number
  readonly #retries: number
  readonly #queues: Readonly<Record<CallPriority, Waiting[]>> = { foreground: [], bulk: [], housekeeping: [] }
  readonly #inFlightBy: Record<CallPriority, number> = { foreground: 0, bulk: 0, housekeeping: 0 }
  #limit: number
  #successes = 0
  #streak = 0
  #throttled = 0
  #pausedUntilMs = 0
  #housekeepingDueMs = 0
  #wakeUp: Timer | undefined

  constructor(options: CallGateOptions) {
    this.#clock = options.clock
    this.#random = options.random
    this.#limitMax = options.limit ?? 32
    this.#limit = this.#limitMax
    this.#housekeepingIntervalMs = options.housekeepingIntervalMs ?? 50
    this.#retries = options.retries ?? 4
  }

  get status(): CallGateStatus {
    return {
      inFlight: this.#inFlight(),
      waiting: this.#waiting(),
      limit: this.#limit,
      throttled: this.#throttled,
    }
  }

  /**
   * Runs `call` when it is its turn; what it throws comes through, a 429 only after the retries: whatever the method,
   * since priority and fairness refuses before anything is done. Throws KubernetesError
   * 'unavailable' where `signal` aborts before the turn came.
   */
  async run<T>(call: () => Promise<T>, options: GatedCallOptions): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      await this.#turn(options, attempt > 0)
      try {
        const result = await call()
        this.#succeeded()
        return result
      } catch (error) {
        if (!isThrottled(error)) throw error
        this.#pause(error)
        if (attempt >= this.#retries) throw error
      } finally {
        this.#inFlightBy[options.priority]--
        this.#dispatch()
      }
    }
  }

  #turn({ signal, priority }: GatedCallOptions, again: boolean): Promise<void> {
    if (signal.aborted) return Promise.reject(givenUp(signal))
    return new Promise((resolve, reject) => {
      const queue = this.#queues[priority]
      const giveUp = () => {
        queue.splice(queue.indexOf(waiting), 1)
        reject(givenUp(signal))
        // The last one to wait takes the timer with it.
        this.#dispatch()
      }
      const waiting: Waiting = {
        start: () => {
          signal.removeEventListener('abort', giveUp)
          this.#inFlightBy[priority]++
          resolve()
        },
      }
      signal.addEventListener('abort', giveUp, { once: true })
      if (again) queue.unshift(waiting)
      else queue.push(waiting)
      this.#dispatch()
    })
  }

  #dispatch(): void {
    this.#wakeUp?.cancel()
    this.#wakeUp = undefined
    if (this.#waiting() === 0) return
    const nowMs = this.#clock.monotonicMs()
    if (nowMs < this.#pausedUntilMs) return this.#wakeUpAt(this.#pausedUntilMs)

    while (this.#inFlight() < this.#limit) {
      const priority = this.#nextPriority(nowMs)
      if (priority === undefined) break
      this.#streak = priority === 'foreground' ? this.#streak + 1 : 0
      if (priority === 'housekeeping') this.#housekeepingDueMs = nowMs + this.#housekeepingIntervalMs
      this.#queues[priority].shift()?.start()
    }
    if (this.#queues.housekeeping.length > 0 && this.#housekeepingDueMs > nowMs) {
      this.#wakeUpAt(this.#housekeepingDueMs)
    }
  }

  #nextPriority(nowMs: number): CallPriority | undefined {
    const { foreground, bulk, housekeeping } = this.#queues
    // Bulk work is done when its records are closed, so it does not push its own settles aside.
    const mustYield = foreground.length > 0 && this.#housekeepingDueMs > nowMs
    if (housekeeping.length > 0 && this.#inFlightBy.housekeeping < this.#shareOf('housekeeping') && !mustYield) {
      return 'housekeeping'
    }
    const bulkMayGo = bulk.length > 0 && this.#inFlightBy.bulk < this.#shareOf('bulk')
    if (bulkMayGo && this.#streak >= foregroundStreak) return 'bulk'
    if (foreground.length > 0) return 'foreground'
    return bulkMayGo ? 'bulk' : undefined
  }

  /** A fresh change never waits behind a full house of slow lists or Events. */
  #shareOf(priority: 'bulk' | 'housekeeping'): number {
    return Math.max(1, Math.floor(this.#limit * (priority === 'bulk' ? 0.75 : 0.25)))
  }

  #succeeded(): void {
    if (this.#limit === this.#limitMax || ++this.#successes < this.#limit) return
    this.#successes = 0
    this.#limit++
  }

  #pause(error: KubernetesError): void {
    this.#throttled++
    const nowMs = this.#clock.monotonicMs()
    // The calls that were in flight together are all refused together: that is one sign, not many.
    if (nowMs >= this.#pausedUntilMs) {
      this.#limit = Math.max(2, Math.floor(this.#limit / 2))
      this.#successes = 0
    }
    const waitMs = Math.min(error.retryAfterMs ?? pauseDefaultMs, pauseMaxMs)
    // Only ever later than asked, and not all replicas at once.
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + waitMs * (1 + 0.25 * this.#random.next()))
  }

  #wakeUpAt(atMs: number): void {
    this.#wakeUp = this.#clock.setTimer(atMs - this.#clock.monotonicMs(), () => this.#dispatch())
  }

  #waiting(): number {
    const { foreground, bulk, housekeeping } = this.#queues
    return foreground.length + bulk.length + housekeeping.length
  }

  #inFlight(): number {
    return this.#inFlightBy.foreground + this.#inFlightBy.bulk + this.#inFlightBy.housekeeping
  }
}

function isThrottled(error: unknown): error is KubernetesError {
  return error instanceof KubernetesError && error.kind === 'throttled'
}

function givenUp(signal: AbortSignal): KubernetesError {
  return new KubernetesError('unavailable', 'call to the API server given up', { cause: signal.reason })
}
