import type { Clock, Timer } from '../runtime/clock.ts'
import { AbortWatch } from './abort-watch.ts'
import { ArrivalRate } from './arrival-rate.ts'
import type { AccountBudget, CallNeeds, CallsLeft } from './account-budget.ts'
import type { CallSlots } from './call-slots.ts'
import type { Lane } from './provider.ts'
import { ProviderError } from './provider-error.ts'

export interface QueuedJob {
  readonly lane: Lane
  readonly signal: AbortSignal
  /** Which operations it needs. Jobs of different kinds draw on different buckets and do not wait for one another. */
  readonly kind: string
  /** Jobs with equal groups can share a call. */
  readonly group: string
  readonly arrivedAtMs: number
  /** Set by the queue: since when it waits to be joined by others. */
  queuedAtMs: number
}

/** Groups in the order of their oldest members, roughly. None is empty. */
export type WaitingGroups<Job> = ReadonlyMap<string, ReadonlySet<Job>>

/** What leaves together. `jobs` must be waiting, and must include the first of the leading group. */
export interface Departure<Job> {
  readonly jobs: readonly Job[]
  readonly needs: CallNeeds
}

export interface BatchQueueOptions<Job, Unit> {
  readonly clock: Clock
  readonly budget: AccountBudget
  readonly slots: CallSlots
  /** How many jobs of this lane are upstream and may still come here. */
  readonly expecting: (lane: Lane) => number
  /** What the budget has left for jobs of this kind. */
  readonly callsLeft: (kind: string, lane: Lane) => CallsLeft
  /** A group of this size waits for nobody. */
  readonly fullAt: number
  readonly choose: (waiting: WaitingGroups<Job>, leading: string, lane: Lane) => Unit
  /** Takes over the unit's jobs; never rejects. Its tokens are taken already. */
  readonly send: (unit: Unit) => Promise<void>
  readonly giveUp: (job: Job, error: ProviderError) => void
}

/** How long a member waits for others under backlog. */
const longestWaitMs: Readonly<Record<Lane, number>> = { fresh: 1000, bulk: 5000 }
/**
 * The same where more groups wait than there are calls for: each that leaves early costs a call that a group behind it
 * would have to wait for, so all are done sooner when each waits longer.
 */
const longestWaitOfManyMs: Readonly<Record<Lane, number>> = { fresh: 3000, bulk: 5000 }
/** Above this part of a burst a job leaves at once, also where others are coming: the first of many need not wait. */
const plentyOfBurst = 0.75
/** Nobody waits for ever: after this a job is told to come back, and its worker is free. */
export const giveUpAfterMs: Readonly<Record<Lane, number>> = { fresh: 60_000, bulk: 600_000 }
const expiryCheckMs = 5000

interface Stream<Job> {
  readonly lane: Lane
  readonly groups: Map<string, Set<Job>>
  readonly full: Set<string>
  /** True from when a job could not leave at once until none is left. */
  backlog: boolean
  /** Before this (monotonic) the budget has nothing for what would leave next. */
  tokensAtMs: number
  readonly arrivals: ArrivalRate
}

/**
 * Decides when waiting jobs leave. While there is room a job leaves at once, with whatever else came in the same turn of
 * the event loop; under backlog a group leaves when it is full, when its oldest member has waited long enough, or when
 * nothing else is coming. So an idle product is quick and a busy one makes few calls.
 *
 * Every job that was added is handed to `send` or to `giveUp`, exactly once.
 */
export class BatchQueue<Job extends QueuedJob, Unit extends Departure<Job>> {
  readonly #options: BatchQueueOptions<Job, Unit>
  readonly #streams = new Map<string, Stream<Job>>()
  readonly #aborts: AbortWatch<Job>
  readonly #underWay = new Set<Promise<void>>()
  #timer: Timer | undefined
  #pumpIsDue = false
  #stopped = false
  #nextExpiryCheckMs = 0

  constructor(options: BatchQueueOptions<Job, Unit>) {
    this.#options = options
    options.budget.whenGranted(() => this.#granted())
    this.#aborts = new AbortWatch((job) => this.#giveUp(job, notSent('the caller gave it up before it was sent')))
  }

  add(job: Job): void {
    this.#streamOf(job).arrivals.arrived(this.#options.clock.monotonicMs())
    this.#takeIn(job)
  }

  /** A job that was sent partly and waits again is in no hurry: it should share its next call. */
  addBack(job: Job): void {
    this.#streamOf(job).backlog = true
    this.#takeIn(job)
  }

  /** Looks again, once this turn of the event loop is over: what `expecting` says may have changed. */
  poke(): void {
    if (this.#pumpIsDue || this.#stopped) return
    this.#pumpIsDue = true
    setImmediate(() => {
      this.#pumpIsDue = false
      this.#pump()
    })
  }

  waiting(lane: Lane): number {
    let sum = 0
    for (const stream of this.#streams.values()) {
      if (stream.lane === lane) for (const group of stream.groups.values()) sum += group.size
    }
    return sum
  }

  get unitsUnderWay(): number {
    return this.#underWay.size
  }

  /** Gives up all that waits; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    for (const job of this.#all()) this.#giveUp(job, notSent('the provider is stopping'))
    await Promise.all(this.#underWay)
  }

  /** The budget has more than it said. */
  #granted(): void {
    for (const stream of this.#streams.values()) stream.tokensAtMs = 0
    this.poke()
  }

  #takeIn(job: Job): void {
    if (this.#stopped) return this.#options.giveUp(job, notSent('the provider is stopping'))
    if (job.signal.aborted) return this.#options.giveUp(job, notSent('the caller gave it up before it was sent'))
    job.queuedAtMs = this.#options.clock.monotonicMs()
    const stream = this.#streamOf(job)
    const group = stream.groups.get(job.group) ?? new Set()
    group.add(job)
    stream.groups.set(job.group, group)
    if (group.size >= this.#options.fullAt) stream.full.add(job.group)
    this.#aborts.watch(job)
    this.poke()
  }

  #pump(): void {
    if (this.#stopped) return
    this.#timer?.cancel()
    this.#expire()
    let againInMs = Number.POSITIVE_INFINITY
    for (const lane of ['fresh', 'bulk'] as const) {
      for (const stream of this.#streams.values()) {
        if (stream.lane === lane) againInMs = Math.min(againInMs, this.#pumpStream(stream))
      }
    }
    if (againInMs === Number.POSITIVE_INFINITY) return
    this.#timer = this.#options.clock.setTimer(Math.min(againInMs, expiryCheckMs), () => this.#pump())
  }

  /** Sends what may leave; returns the milliseconds after which to look again, infinity where nothing waits. */
  #pumpStream(stream: Stream<Job>): number {
    const { budget, choose, clock, slots } = this.#options
    for (;;) {
      const leading = leadingGroup(stream)
      if (leading === undefined) {
        stream.backlog = false
        return Number.POSITIVE_INFINITY
      }
      if (!slots.isFree(stream.lane)) {
        stream.backlog = true
        return slots.msUntilNextForgotten() ?? expiryCheckMs
      }
      const ripeInMs = this.#ripeInMs(stream, leading)
      if (ripeInMs > 0) return ripeInMs
      const nowMs = clock.monotonicMs()
      if (stream.tokensAtMs > nowMs) return stream.tokensAtMs - nowMs
      const unit = choose(stream.groups, leading, stream.lane)
      const waitMs = budget.tryTake(unit.needs, stream.lane)
      if (waitMs > 0) {
        stream.backlog = true
        stream.tokensAtMs = nowMs + waitMs
        return waitMs
      }
      this.#depart(stream.lane, unit)
    }
  }

  #ripeInMs(stream: Stream<Job>, leading: string): number {
    if (stream.full.size > 0) return 0
    const [oldest] = stream.groups.get(leading) ?? []
    if (oldest === undefined) return 0
    const left = this.#options.callsLeft(oldest.kind, stream.lane)
    if (!stream.backlog && left.calls > left.burst * plentyOfBurst) return 0
    const companyInMs = this.#companyInMs(stream)
    if (companyInMs === 0) return 0
    const waits = stream.groups.size > left.calls ? longestWaitOfManyMs : longestWaitMs
    const overdueInMs = oldest.queuedAtMs + waits[stream.lane] - this.#options.clock.monotonicMs()
    return Math.min(overdueInMs, companyInMs)
  }

  /** Within how many milliseconds to look whether company has come; 0 where none is to be expected. */
  #companyInMs(stream: Stream<Job>): number {
    if (this.#options.expecting(stream.lane) > 0) return Number.POSITIVE_INFINITY
    return stream.arrivals.untilSparseMs(this.#options.clock.monotonicMs())
  }

  #depart(lane: Lane, unit: Unit): void {
    if (unit.jobs.length === 0) throw new Error('a unit must take jobs with it, or the queue would never end')
    for (const job of unit.jobs) this.#remove(job)
    let calls = 0
    for (const count of unit.needs.values()) calls += count
    const hold = this.#options.slots.take(lane, calls)
    const trip = this.#options.send(unit).finally(() => {
      hold.release()
      this.#underWay.delete(trip)
      this.poke()
    })
    this.#underWay.add(trip)
  }

  #expire(): void {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs < this.#nextExpiryCheckMs) return
    this.#nextExpiryCheckMs = nowMs + expiryCheckMs
    for (const job of this.#all()) {
      if (nowMs - job.arrivedAtMs < giveUpAfterMs[job.lane]) continue
      this.#giveUp(job, noTurn(this.#options.budget))
    }
  }

  #giveUp(job: Job, error: ProviderError): void {
    this.#remove(job)
    this.#options.giveUp(job, error)
  }

  #remove(job: Job): void {
    this.#aborts.unwatch(job)
    const stream = this.#streamOf(job)
    const group = stream.groups.get(job.group)
    if (group === undefined) return
    group.delete(job)
    if (group.size < this.#options.fullAt) stream.full.delete(job.group)
    if (group.size === 0) stream.groups.delete(job.group)
  }

  #all(): readonly Job[] {
    const groups = [...this.#streams.values()].flatMap((stream) => Array.from(stream.groups.values()))
    return groups.flatMap((group) => Array.from(group))
  }

  #streamOf(job: Job): Stream<Job> {
    const name = `${job.lane} ${job.kind}`
    let stream = this.#streams.get(name)
    if (stream === undefined) {
      stream = {
        lane: job.lane,
        groups: new Map(),
        full: new Set(),
        backlog: false,
        tokensAtMs: 0,
        arrivals: new ArrivalRate(),
      }
      this.#streams.set(name, stream)
    }
    return stream
  }
}

function leadingGroup(stream: Stream<unknown>): string | undefined {
  for (const name of stream.full) return name
  for (const name of stream.groups.keys()) return name
  return undefined
}

export function notSent(why: string): ProviderError {
  return new ProviderError('unavailable', `not sent: ${why}`)
}

export function noTurn({ pausedForMs }: AccountBudget): ProviderError {
  return new ProviderError('throttled', 'the budget of this account scope left no turn for it', {
    ...(pausedForMs > 0 && { retryAfterMs: pausedForMs }),
  })
}
