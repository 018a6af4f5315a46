import { pause, type Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Random } from '../runtime/random.ts'
import type { ApiTransport } from './api-request.ts'
import { objectAt, stringAt } from './json.ts'
import { KubernetesError, type KubernetesErrorKind } from './kubernetes-error.ts'
import { LeaderTerm } from './leader-term.ts'
import { LeaseClient, type Lease, type LeaseCallOptions } from './lease.ts'

export interface LeaseElectorOptions {
  readonly transport: ApiTransport
  readonly namespace: string
  /** The Lease's name. */
  readonly name: string
  /** Who we are, different in every process; the pod's name. */
  readonly identity: string
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Default 15,000 ms: how long a silent leader is believed. */
  readonly leaseDurationMs?: number
  /** Default 10,000 ms: how long a leader tries to renew before it stops leading. */
  readonly renewDeadlineMs?: number
  /** Default 2,000 ms between two tries. */
  readonly retryPeriodMs?: number
}

// Also the longest that a release may hold up a shutdown.
const callTimeoutMs = 5_000

/**
 * Leader election with client-go's rules. Whether another leader is still there is judged by when *we* last saw the
 * Lease change, on our monotonic clock, so no two wall clocks need to agree. A leader stops a few seconds before others
 * may start: its term's signal aborts when nothing was renewed for the deadline, even while a call hangs.
 *
 * The Lease also keeps the product's own notes as annotations; a renewal writes them back with the resource version they
 * were read at, so neither loses the other.
 */
export class LeaseElector {
  readonly #options: LeaseElectorOptions
  readonly #client: LeaseClient
  readonly #leaseDurationMs: number
  readonly #renewDeadlineMs: number
  readonly #retryPeriodMs: number
  #seen: Lease | undefined
  /** When the spec of `#seen` was first seen like this. */
  #seenAtMs = 0
  /** When the last successful write of ours was sent: others count from later. */
  #renewedAtMs = 0
  #term: LeaderTerm | undefined
  /** Writes go one after another, each on what the last one left. */
  #writing: Promise<unknown> = Promise.resolve()

  constructor(options: LeaseElectorOptions) {
    this.#options = options
    this.#client = new LeaseClient(options)
    this.#leaseDurationMs = options.leaseDurationMs ?? 15_000
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000
    this.#retryPeriodMs = options.retryPeriodMs ?? 2_000
  }

  get isLeader(): boolean {
    return this.#term !== undefined && !this.#term.isOver
  }

  /** Who held the Lease when it was last seen; undefined where nobody did. */
  get holder(): string | undefined {
    return this.#seen?.holder
  }

  /** As the Lease was last seen: a leader has seen it at the beginning of its term. */
  getAnnotation(key: string): string | undefined {
    return stringAt(this.#seen?.annotations, key)
  }

  /** Only the leader writes: throws KubernetesError 'conflict' for anybody else. */
  async setAnnotation(key: string, value: string): Promise<void> {
    if (!(await this.#renew({ [key]: value }))) {
      throw new KubernetesError('conflict', 'only the leader writes to the Lease')
    }
  }

  /**
   * Competes until `signal` aborts. Calls `onStarted` at the beginning of each term with the term's signal: when that
   * aborts, all work has to end, and until the returned promise has settled nothing else happens. A term also ends when
   * that promise settles. At shutdown the Lease is given back once the work has ended, if that is before the deadline.
   */
  async run(onStarted: (term: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (await this.#acquire(signal)) {
      await this.#lead(onStarted, signal)
      await pause(this.#options.clock, this.#retryPeriodMs, signal)
    }
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, random, logger, identity } = this.#options
    while (!signal.aborted) {
      try {
        if (await this.#exclusive(() => this.#tryToAcquire(signal))) {
          logger.info({ lease: this.#options.name, identity }, 'leading')
          return true
        }
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error, lease: this.#options.name }, 'the lease could not be taken')
      }
      // As client-go: the competitors of a fleet that starts together drift apart.
      await pause(clock, this.#retryPeriodMs * (1 + 1.2 * random.next()), signal)
    }
    return false
  }

  async #tryToAcquire(signal: AbortSignal): Promise<boolean> {
    const options = { timeoutMs: callTimeoutMs, signal }
    const seen = this.#observe(await this.#client.get(options))
    if (seen?.holder !== undefined && seen.holder !== this.#options.identity && this.#isStillHeld(seen)) return false
    try {
      await this.#write(seen, {}, options)
      return true
    } catch (error) {
      if (isKind(error, 'conflict')) return false
      throw error
    }
  }

  /** By the holder's own duration, as client-go does: a release writes one second. */
  #isStillHeld(seen: Lease): boolean {
    return this.#options.clock.monotonicMs() - this.#seenAtMs < seen.durationMs
  }

  async #lead(onStarted: (term: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, logger, name } = this.#options
    const term = new LeaderTerm(clock, this.#renewDeadlineMs, this.#renewedAtMs)
    this.#term = term
    const workEnded = new AbortController()
    const work = runWork(onStarted, term.signal, logger).finally(() => workEnded.abort())
    const stop = AbortSignal.any([signal, term.signal, workEnded.signal])

    while (!stop.aborted) {
      await pause(clock, this.#retryPeriodMs, stop)
      if (!stop.aborted) await this.#renewOrEnd(term)
    }
    const lost = term.isOver
    if (lost) logger.warn({ lease: name, err: term.signal.reason as unknown }, 'no longer leading')
    term.end('the process stops leading')
    await work
    this.#term = undefined
    // Work that ended late left others free to start: there may be nothing of ours to give back.
    if (!lost && term.leftMs > 0) await this.#release()
  }

  async #renewOrEnd(term: LeaderTerm): Promise<void> {
    try {
      if (!(await this.#renew({}))) term.end('somebody else holds the lease')
    } catch (error) {
      if (!term.isOver)
        this.#options.logger.warn({ err: error, lease: this.#options.name }, 'lease not renewed, trying on')
    }
  }

  /** False where we do not lead, or no longer. */
  #renew(annotations: Readonly<Record<string, string>>): Promise<boolean> {
    return this.#exclusive(async () => {
      const term = this.#term
      if (term === undefined || term.isOver) return false
      const options = () => ({ timeoutMs: Math.min(callTimeoutMs, Math.max(1, term.leftMs)), signal: term.signal })
      try {
        await this.#write(this.#seen, annotations, options())
        return true
      } catch (error) {
        // Changed or deleted by somebody; not necessarily by another leader.
        if (!isKind(error, 'conflict') && !isKind(error, 'not-found')) throw error
      }
      const seen = this.#observe(await this.#client.get(options()))
      if (seen?.holder !== undefined && seen.holder !== this.#options.identity) return false
      await this.#write(seen, annotations, options())
      return true
    })
  }

  /** Empties the holder, so that the next leader need not wait for the Lease to run out. Never throws. */
  async #release(): Promise<void> {
    const options = { timeoutMs: callTimeoutMs, signal: new AbortController().signal }
    const holding = { holder: '', durationMs: 1_000, nowWallMs: this.#options.clock.wallMs() }
    try {
      await this.#exclusive(async () => {
        const seen = this.#observe(await this.#client.get(options))
        if (seen?.holder === this.#options.identity) this.#observe(await this.#client.update(seen, holding, options))
      })
      this.#options.logger.info({ lease: this.#options.name }, 'lease released')
    } catch (error) {
      this.#options.logger.warn({ err: error, lease: this.#options.name }, 'the lease could not be released')
    }
  }

  async #write(
    seen: Lease | undefined,
    annotations: Readonly<Record<string, string>>,
    options: LeaseCallOptions,
  ): Promise<void> {
    const { clock, identity } = this.#options
    const sentAtMs = clock.monotonicMs()
    const holding = { holder: identity, durationMs: this.#leaseDurationMs, nowWallMs: clock.wallMs(), annotations }
    this.#observe(
      seen === undefined
        ? await this.#client.create(holding, options)
        : await this.#client.update(seen, holding, options),
    )
    this.#renewedAtMs = sentAtMs
    this.#term?.renewed(sentAtMs)
  }

  #observe(lease: Lease | undefined): Lease | undefined {
    const spec = (of: Lease | undefined) => JSON.stringify(objectAt(of?.raw, 'spec'))
    if (spec(lease) !== spec(this.#seen)) this.#seenAtMs = this.#options.clock.monotonicMs()
    this.#seen = lease
    return lease
  }

  #exclusive<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#writing.then(action)
    this.#writing = result.catch(() => {})
    return result
  }
}

async function runWork(
  onStarted: (term: AbortSignal) => Promise<void>,
  term: AbortSignal,
  logger: Logger,
): Promise<void> {
  try {
    await onStarted(term)
  } catch (error) {
    logger.error({ err: error }, "the leader's work failed")
  }
}

function isKind(error: unknown, kind: KubernetesErrorKind): boolean {
  return error instanceof KubernetesError && error.kind === kind
}
