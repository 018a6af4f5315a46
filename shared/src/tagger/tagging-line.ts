import type { ClaimKey } from '../claims/claim-key.ts'
import { callTimeoutMs } from '../config/call-timeout.ts'
import type { Volume } from '../claims/volume.ts'
import type { DiskRef } from '../claims/disk.ts'
import { claimKey } from '../claims/claim-key.ts'
import type { Config } from '../config/config.ts'
import { rulesFor } from '../config/rules-for.ts'
import type { ExpectedCompany, RunningProvider } from '../providers/running-provider.ts'
import { mergeHints } from '../queue/hints.ts'
import type { Hints } from '../queue/hints.ts'
import { WorkQueue } from '../queue/work-queue.ts'
import { Workers } from '../queue/workers.ts'
import { atMost } from '../runtime/clock.ts'
import type { Clock } from '../runtime/clock.ts'
import { durationMs } from '../runtime/duration.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Random } from '../runtime/random.ts'
import { ClaimWorker } from './claim-worker.ts'
import type { PassObserver } from './claim-worker.ts'
import { intentTiming } from './intent-timing.ts'
import type { ClusterReader, EventSink, RecordWriter } from './ports.ts'
import { RemovalBrake } from './removal-brake.ts'
import { RetryPolicy } from './retry-policy.ts'
import { Tagger } from './tagger.ts'
import type { TaggingRules } from './tagging-rules.ts'
import { Upstream } from './upstream.ts'

export interface TaggingLineDeps {
  readonly config: Config
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly reader: ClusterReader
  readonly records: RecordWriter
  readonly events: EventSink
  readonly observer: PassObserver
  readonly identity: string
  /** Keys that may wait at once. */
  readonly queueCapacity: number
  /** Keys in work at once: jobs that wait for a batch count, so a large number makes large batches. */
  readonly concurrency: number
  readonly handOverAfterMs: number | undefined
  /** How many disks there are, for the brake on removals; 0 where that is not known. */
  readonly diskCount: () => number
  /** As `TaggerDeps.volumesOf`. */
  readonly volumesOf?: ((disk: DiskRef) => readonly Volume[]) | undefined
  /** Builds the provider, which asks how much company its batches may expect. */
  readonly provider: (expected: ExpectedCompany) => Promise<RunningProvider>
}

/** What every door leads to: the queue, its workers and the path behind them. */
export interface TaggingLine {
  readonly queue: WorkQueue<ClaimKey, Hints>
  readonly workers: Workers<ClaimKey, Hints>
  readonly tagger: Tagger
  readonly provider: RunningProvider
  readonly tagging: TaggingRules
  start(): void
  /**
   * Takes nothing more in and gives the work in hand `graceMs` to end; what has not ended by then is aborted and left to
   * whoever looks next.
   */
  stop(graceMs: number): Promise<void>
}

export async function createTaggingLine(deps: TaggingLineDeps): Promise<TaggingLine> {
  const { config, clock, random, logger, observer } = deps
  const events = config.reportOnly ? silentEvents : deps.events
  const errorMs = durationMs(config.requeue.error)
  const abort = new AbortController()
  const queue = new WorkQueue<ClaimKey, Hints>({ clock, merge: mergeHints, capacity: deps.queueCapacity })
  const upstream = new Upstream({ unstarted: (lane) => queue.readyIn(lane), onArrival: () => provider.poke() })
  const provider = await deps.provider(upstream)

  const tagging: TaggingRules = {
    cloud: config.cloudProvider,
    provider,
    rules: rulesFor(config),
    conflict: config.tags.onConflict,
    removes: config.tags.onRemoval === 'remove',
    adopt: config.tags.adopt !== 'none',
    brake: new RemovalBrake({
      clock,
      logger,
      acknowledged: config.tags.acknowledgedRemovals,
      diskCount: deps.diskCount,
    }),
  }
  const tagger = new Tagger({
    ...deps,
    ...tagging,
    events,
    upstream,
    reportOnly: config.reportOnly,
    timing: intentTiming(callTimeoutMs(config)),
    onYield: ({ claimRef }) => {
      if (claimRef === undefined) return
      queue.add(claimKey(claimRef.namespace, claimRef.name), { lane: 'bulk', observe: true })
    },
    onUnsettled: (key, failures) => {
      const afterMs = Math.min(unsettledAfterMs * 2 ** (failures - 1), Math.max(errorMs, unsettledAfterMs))
      queue.addAfter(key, { lane: 'bulk', observe: true }, afterMs)
    },
  })
  const retries = new RetryPolicy({
    clock,
    random,
    notReadyMs: durationMs(config.requeue.notReady),
    errorMs,
  })
  const worker = new ClaimWorker({
    queue,
    tagger,
    retries,
    events,
    observer,
    clock,
    logger,
    signal: abort.signal,
    handOverAfterMs: deps.handOverAfterMs,
  })
  const workers = new Workers({ queue, clock, concurrency: deps.concurrency, work: (item) => worker.work(item) })

  return {
    queue,
    workers,
    tagger,
    provider,
    tagging,
    start: () => workers.start(),
    async stop(graceMs) {
      queue.shutDown()
      const done = async () => {
        await workers.finished()
        await tagger.settler.drained()
      }
      await atMost(clock, graceMs, done())
      abort.abort()
      tagger.settler.abort()
      await atMost(clock, graceMs, provider.stop())
    },
  }
}

/**
 * Whoever wrote to the volume meanwhile is likely to write again at once. Doubled each time: each look reads the disk, and
 * an API server that takes no record of ours would have us read all of them every second.
 */
const unsettledAfterMs = 1000

/** Under `reportOnly` not even an Event is written. */
const silentEvents: EventSink = { record: () => {} }
