import type { Check } from '../runtime/health-server.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { showScopes } from '../providers/prometheus-cloud-metrics.ts'
import type { RemovalBrake } from './removal-brake.ts'
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
  showQueue(metrics, line?.queue ?? emptyQueue)
  metrics.reconcilesActive.set({ resource: 'persistentvolumeclaim' }, line?.workers.busy ?? 0)
  if (line === undefined) return
  showScopes(metrics, line.provider)
  showBrake(metrics, line.tagging.brake)
}

type ShownQueue = Pick<TaggingLine['queue'], 'readyCount' | 'waitingCount' | 'processingCount' | 'oldestReadyMs'>

const emptyQueue: ShownQueue = { readyCount: 0, waitingCount: 0, processingCount: 0, oldestReadyMs: 0 }

function showQueue(metrics: Metrics, queue: ShownQueue): void {
  metrics.queueDepth.set({ state: 'ready' }, queue.readyCount)
  metrics.queueDepth.set({ state: 'waiting' }, queue.waitingCount)
  metrics.queueDepth.set({ state: 'processing' }, queue.processingCount)
  metrics.queueOldestSeconds.set(queue.oldestReadyMs / 1000)
}

/** Tenants name labels. */
const heldShownMax = 100

function showBrake(metrics: Metrics, { held }: RemovalBrake): void {
  metrics.removalBrake.set(held.size > 0 ? 1 : 0)
  metrics.removalsHeld.reset()
  for (const [key, disks] of [...held].slice(0, heldShownMax)) metrics.removalsHeld.set({ key }, disks)
}
