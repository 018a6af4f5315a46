import type { Config } from '@k8s-cloud-tagger/shared/config/config.ts'
import type { ExpectedCompany, RunningProvider } from '@k8s-cloud-tagger/shared/providers/running-provider.ts'
import { pause } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import { durationMs } from '@k8s-cloud-tagger/shared/runtime/duration.ts'
import type { Logger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import type { Metrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import type { Random } from '@k8s-cloud-tagger/shared/runtime/random.ts'
import { isoTimestamp, timestampMs } from '@k8s-cloud-tagger/shared/runtime/timestamps.ts'
import { PassMetrics } from '@k8s-cloud-tagger/shared/tagger/pass-metrics.ts'
import type { EventSink, RecordWriter } from '@k8s-cloud-tagger/shared/tagger/ports.ts'
import { createTaggingLine } from '@k8s-cloud-tagger/shared/tagger/tagging-line.ts'
import type { TaggingLine } from '@k8s-cloud-tagger/shared/tagger/tagging-line.ts'
import type { ClaimBoard } from './claim-board.ts'
import type { ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'
import { DriftSweep } from './drift-sweep.ts'
import { foreseenRemovals } from '@k8s-cloud-tagger/shared/tagger/foreseen-removals.ts'
import { countSweep, startSweepMetrics } from './reconciler-metrics.ts'
import { queueDoor } from './sources.ts'
import type { Sources } from './sources.ts'
import { SweepSchedule } from './sweep-schedule.ts'

export interface LeaderWorkDeps {
  readonly config: Config
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: Metrics
  readonly identity: string
  /** The program's own. */
  readonly namespace: string
  readonly cache: ClusterCache
  readonly sources: Sources
  readonly board: ClaimBoard
  readonly records: RecordWriter
  readonly events: EventSink
  readonly provider: (expected: ExpectedCompany) => Promise<RunningProvider>
  /** The Lease's annotations: what the next leader has to know. */
  readonly notes: {
    getAnnotation(key: string): string | undefined
    setAnnotation(key: string, value: string): Promise<void>
  }
}

const lastSweepNote = 'k8s-cloud-tagger/last-sweep'
/** A whole large cluster may wait at the start; keys are short. */
const queueCapacity = 200_000
/** Jobs that wait for their batch count, so this bounds how many disks can share a call. */
const concurrency = 3000
/** A leader that lost its Lease has few seconds left before another one starts. */
const stopGraceMs = 2000
const syncCheckMs = 50

/** All that only one reconciler may do at a time. Built anew for each term, so that nothing is left of the last one. */
export class LeaderWork {
  readonly #deps: LeaderWorkDeps
  /** One for all terms: what it counts only ever grows. */
  readonly #observer: PassMetrics
  #line: TaggingLine | undefined

  constructor(deps: LeaderWorkDeps) {
    const { board, cache, metrics } = deps
    this.#deps = deps
    this.#observer = new PassMetrics(metrics, {
      passed: (key, outcome, { hints }) => {
        // One that was deleted meanwhile would be counted for ever.
        if (cache.claimNow(key) !== undefined) board.passed(key, outcome)
        if (outcome.kind === 'tagged' && hints.expectWebhook === true) metrics.missedByWebhook.inc()
      },
    })
    startSweepMetrics(metrics)
  }

  get line(): TaggingLine | undefined {
    return this.#line
  }

  /** Works until `term` aborts. */
  async lead(term: AbortSignal): Promise<void> {
    const { clock, sources } = this.#deps
    while (!sources.synced && !term.aborted) await pause(clock, syncCheckMs, term)
    if (term.aborted) return
    const line = await this.#createLine()
    this.#line = line
    for (const [key, disks] of foreseenRemovals(this.#deps.cache, line.tagging)) line.tagging.brake.foresee(key, disks)
    line.start()
    const closeDoor = this.#openDoor(line)
    this.#tellSweepCost()
    try {
      await this.#schedule(line).run(term)
    } finally {
      closeDoor()
      await line.stop(stopGraceMs)
      this.#deps.board.clear()
      this.#line = undefined
    }
  }

  #createLine(): Promise<TaggingLine> {
    const { cache } = this.#deps
    return createTaggingLine({
      ...this.#deps,
      reader: cache,
      diskCount: () => cache.claimCount,
      volumesOf: (disk) => cache.volumesOf(disk),
      queueCapacity,
      concurrency,
      handOverAfterMs: undefined,
      observer: this.#observer,
    })
  }

  #openDoor({ queue }: TaggingLine): () => void {
    const { config, clock, sources, board, metrics } = this.#deps
    // Its own namespace is always left out of the webhook's, or the two would wait for each other.
    const excluded = new Set([...config.webhook.excludedNamespaces, this.#deps.namespace])
    const door = queueDoor({
      clock,
      add: (key, hints, delayMs) => {
        if (!queue.addAfter(key, hints, delayMs)) metrics.queueOverflows.inc()
      },
      onGone: (key) => board.gone(key),
      headStartMs: config.webhook.enabled ? durationMs(config.reconciler.headStart) : 0,
      inWebhookScope: (namespace) => !excluded.has(namespace),
    })
    return sources.open(door)
  }

  #schedule({ queue, tagging }: TaggingLine): SweepSchedule {
    const { config, clock, random, logger, metrics, cache, notes } = this.#deps
    const sweep = new DriftSweep({
      ...tagging,
      cache,
      clock,
      backlog: () => queue.readyCount,
      isOnItsWay: (key) => queue.has(key),
      repair: (key) => void queue.add(key, { lane: 'bulk', observe: true }),
    })
    return new SweepSchedule({
      clock,
      random,
      logger,
      intervalMs: durationMs(config.requeue.success),
      lastMs: () => timestampMs(notes.getAnnotation(lastSweepNote)),
      remember: (wallMs) => notes.setAnnotation(lastSweepNote, isoTimestamp(wallMs)),
      sweep: (signal) => sweep.run(signal),
      observe: (ended) => countSweep(metrics, ended),
    })
  }

  /** A short interval is honoured, and its price is named where whoever set it looks. */
  #tellSweepCost(): void {
    const { config, cache, logger } = this.#deps
    if (config.cloudProvider === 'mock') return
    const claims = cache.claimCount
    const callsADay = Math.ceil(claims / 500) * Math.round(86_400_000 / durationMs(config.requeue.success))
    logger.info(
      { claims, sweepEvery: config.requeue.success, callsADay },
      'comparing every disk costs this many cloud calls a day',
    )
  }
}
