import type { Config } from '@k8s-cloud-tagger/shared/config/config.ts'
import { rulesHash } from '@k8s-cloud-tagger/shared/config/rules-for.ts'
import { startAtZero } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import type { Metrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import type { ClaimBoard } from './claim-board.ts'
import type { ClusterWatch } from './watches.ts'
import type { SweepEnd } from './sweep-schedule.ts'

export function startSweepMetrics(metrics: Metrics): void {
  startAtZero(metrics.sweeps, [{ outcome: 'complete' }, { outcome: 'failed' }])
}

export function countSweep(metrics: Metrics, ended: SweepEnd): void {
  metrics.sweeps.inc({ outcome: ended.outcome })
  if (ended.outcome === 'failed') return
  metrics.lastSweep.set(ended.endedMs / 1000)
  metrics.sweepSeconds.set(ended.seconds)
  metrics.driftFound.inc(ended.drifted)
}

/** What sets this cluster apart from others of its fleet. */
export function showRules(metrics: Metrics, config: Config): void {
  metrics.reportOnly.set(config.reportOnly ? 1 : 0)
  metrics.rulesInfo.set({ hash: rulesHash(config) }, 1)
}

export function showWatches(metrics: Metrics, watches: readonly ClusterWatch[]): void {
  for (const { name, reflector } of watches) metrics.watchRestarts.set({ resource: name }, reflector.status.restarts)
}

/** The states that every installation has, so that none of them is missing before its first claim. */
const alwaysShown = [
  { state: 'tagged', reason: '' },
  { state: 'pending', reason: 'claim-unbound' },
  { state: 'skipped', reason: 'unsupported-volume' },
  { state: 'failed', reason: 'cloud-denied' },
]

export function showBoard(metrics: Metrics, board: ClaimBoard): void {
  for (const labels of alwaysShown) metrics.claims.set(labels, 0)
  for (const { state, reason, count } of board.counts()) metrics.claims.set({ state, reason }, count)
  metrics.oldestPending.set(board.oldestWaitMs / 1000)
}
