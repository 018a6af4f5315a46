import { createHash } from 'node:crypto'
import type { Claim } from '../claims/claim.ts'
import { pause, type Clock, type Timer } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Random } from '../runtime/random.ts'
import type { ClaimEvent, EventSink } from '../tagger/ports.ts'
import { eventsPath } from './api-request.ts'
import { eventObject } from './event-object.ts'
import type { ApiCaller } from './gated-api.ts'
import { KubernetesError } from './kubernetes-error.ts'

export interface EventRecorderOptions {
  readonly api: ApiCaller
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** The pod's name. */
  readonly instance: string
  /** False switches Events of type Normal off; default true. */
  readonly normal?: boolean
  /** Default 1,000 Events that wait. */
  readonly queueMax?: number
  /** Default 10 a second, once a burst of as many is spent. */
  readonly ratePerSecond?: number
  /** Default 4. */
  readonly inFlightMax?: number
  /** Default 600,000 ms in which an equal Event is not reported again. */
  readonly repeatAfterMs?: number
}

export interface EventRecorderStatus {
  readonly waiting: number
  readonly written: number
  /** Equal to one of the last ten minutes. */
  readonly suppressed: number
  /** Did not fit the queue, or were left at the end. */
  readonly dropped: number
  /** The API server did not take them. */
  readonly failed: number
}

interface Waiting {
  readonly claim: Claim
  readonly event: ClaimEvent
  readonly fingerprint: string
  readonly wallMs: number
}

// Fingerprints are 24 characters, so that the memory of what was said stays below a megabyte.
const rememberedMax = 10_000

/**
 * Events on claims, best effort: a queue with an end, a modest pace, the lowest priority. An Event equal to one of the
 * last ten minutes (claim, reason, note) is suppressed and not counted up in a series: a series costs a call for each
 * repetition, and what repeats is on the metrics already.
 */
export class EventRecorder implements EventSink {
  readonly #options: EventRecorderOptions
  readonly #queueMax: number
  readonly #ratePerSecond: number
  readonly #inFlightMax: number
  readonly #repeatAfterMs: number
  readonly #queue: Waiting[] = []
  /** Fingerprint → when it was said, oldest first. */
  readonly #said = new Map<string, number>()
  readonly #stopping = new AbortController()
  #inFlight = 0
  #tokens: number
  #tokensAtMs: number
  #timer: Timer | undefined
  #closing = false
  #whenIdle: (() => void) | undefined
  #sequence = 0
  #written = 0
  #suppressed = 0
  #dropped = 0
  #failed = 0

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#queueMax = options.queueMax ?? 1_000
    this.#ratePerSecond = options.ratePerSecond ?? 10
    this.#inFlightMax = options.inFlightMax ?? 4
    this.#repeatAfterMs = options.repeatAfterMs ?? 600_000
    this.#tokens = this.#ratePerSecond
    this.#tokensAtMs = options.clock.monotonicMs()
  }

  get status(): EventRecorderStatus {
    return {
      waiting: this.#queue.length,
      written: this.#written,
      suppressed: this.#suppressed,
      dropped: this.#dropped,
      failed: this.#failed,
    }
  }

  record(claim: Claim, event: ClaimEvent): void {
    if (event.type === 'Normal' && this.#options.normal === false) return
    const fingerprint = fingerprintOf(claim, event)
    if (this.#wasSaid(fingerprint)) {
      this.#suppressed++
      return
    }
    if (this.#closing || this.#queue.length >= this.#queueMax) {
      this.#dropped++
      return
    }
    this.#remember(fingerprint)
    this.#queue.push({ claim, event, fingerprint, wallMs: this.#options.clock.wallMs() })
    this.#pump()
  }

  /** Takes no more Events, sends what waits without its pace for at most `withinMs`, and leaves nothing running. */
  async close(withinMs = 2_000): Promise<void> {
    this.#closing = true
    this.#pump()
    if (!this.#isIdle() && withinMs > 0) {
      const idle = new AbortController()
      this.#whenIdle = () => idle.abort()
      await pause(this.#options.clock, withinMs, idle.signal)
    }
    this.#dropped += this.#queue.length
    this.#queue.length = 0
    this.#timer?.cancel()
    this.#stopping.abort()
  }

  #pump(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#refill()
    while (this.#inFlight < this.#inFlightMax && (this.#closing || this.#tokens >= 1)) {
      const next = this.#queue.shift()
      if (next === undefined) break
      this.#tokens--
      this.#inFlight++
      void this.#write(next).finally(() => {
        this.#inFlight--
        this.#pump()
        if (this.#isIdle()) this.#whenIdle?.()
      })
    }
    if (this.#queue.length === 0 || this.#inFlight >= this.#inFlightMax) return
    this.#timer = this.#options.clock.setTimer(((1 - this.#tokens) / this.#ratePerSecond) * 1000, () => this.#pump())
  }

  #refill(): void {
    const nowMs = this.#options.clock.monotonicMs()
    const earned = ((nowMs - this.#tokensAtMs) / 1000) * this.#ratePerSecond
    this.#tokens = Math.min(this.#ratePerSecond, this.#tokens + earned)
    this.#tokensAtMs = nowMs
  }

  async #write({ claim, event, fingerprint, wallMs }: Waiting): Promise<void> {
    const { api, instance, logger } = this.#options
    const body = eventObject(claim, event, { instance, wallMs, suffix: this.#suffix(wallMs) })
    try {
      await api.call(
        { method: 'POST', path: eventsPath(claim.namespace), body },
        { signal: this.#stopping.signal, priority: 'housekeeping' },
      )
      this.#written++
    } catch (error) {
      this.#failed++
      // Said is what arrived: the next one like it may go.
      if (!isFinal(error)) this.#said.delete(fingerprint)
      logger.debug({ err: error, claim: claim.key, reason: event.reason }, 'event not written')
    }
  }

  /** Unlike any other process's: time, our count, and chance. */
  #suffix(wallMs: number): string {
    const chance = Math.floor(this.#options.random.next() * 36 ** 5)
    return `${wallMs.toString(36)}${(this.#sequence++ % 36 ** 3).toString(36)}${chance.toString(36)}`
  }

  #wasSaid(fingerprint: string): boolean {
    const atMs = this.#said.get(fingerprint)
    return atMs !== undefined && this.#options.clock.monotonicMs() - atMs < this.#repeatAfterMs
  }

  #remember(fingerprint: string): void {
    const nowMs = this.#options.clock.monotonicMs()
    this.#said.delete(fingerprint)
    this.#said.set(fingerprint, nowMs)
    for (const [oldest, atMs] of this.#said) {
      if (this.#said.size <= rememberedMax && nowMs - atMs < this.#repeatAfterMs) break
      this.#said.delete(oldest)
    }
  }

  #isIdle(): boolean {
    return this.#queue.length === 0 && this.#inFlight === 0
  }
}

function fingerprintOf(claim: Claim, event: ClaimEvent): string {
  return createHash('sha256')
    .update(JSON.stringify([claim.uid, event.reason, event.note]))
    .digest('base64')
    .slice(0, 24)
}

/** A namespace on its way out, a missing permission: trying the same again within minutes would change nothing. */
function isFinal(error: unknown): boolean {
  return error instanceof KubernetesError && (error.kind === 'denied' || error.kind === 'invalid')
}
