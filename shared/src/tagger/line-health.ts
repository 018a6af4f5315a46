import type { Check } from '../runtime/health-server.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { showScopes } from '../providers/prometheus-cloud-metrics.ts'
import type { TaggingLine } from './tagging-line.ts'

/** A job may wait its turn for minutes; when none of many has ended for this long, the workers are stuck. */
const stuckAfterMs = 20 * 60_000

/** Fails where no job ends any more, which no cloud can cause: whatever a cloud does, a job ends by a time-out. */
export function workersCheck(line: () => TaggingLine | undefined): Check {
  return () => {
    const idleMs = line()?.workers.withoutProgressMs ?? 0
    return idleMs > stuckAfterMs ? `workers: no job has ended for ${Math.round(idleMs / 1000)} s` : undefined
  }
}

/** What the line shows at each scrape. */
export function showLine(metrics: Metrics, line: TaggingLine | undefined): void {
  metrics.queueDepth.set({ state: 'ready' }, line?.queue.readyCount ?? 0)
  metrics.queueDepth.set({ state: 'waiting' }, line?.queue.waitingCount ?? 0)
  metrics.queueDepth.set({ state: 'processing' }, line?.queue.processingCount ?? 0)
  metrics.queueOldestSeconds.set((line?.queue.oldestReadyMs ?? 0) / 1000)
  metrics.reconcilesActive.set({ resource: 'persistentvolumeclaim' }, line?.workers.busy ?? 0)
  if (line !== undefined) showScopes(metrics, line.provider)
}
