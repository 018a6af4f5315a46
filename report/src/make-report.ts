import { rulesFor, rulesHash } from '@k8s-cloud-tagger/shared/config/rules-for.ts'
import type { Config } from '@k8s-cloud-tagger/shared/config/config.ts'
import type { ListWatchSource } from '@k8s-cloud-tagger/shared/kubernetes/collection-source.ts'
import type { DiskProvider } from '@k8s-cloud-tagger/shared/providers/provider.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import { silentLogger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import { isoTimestamp } from '@k8s-cloud-tagger/shared/runtime/timestamps.ts'
import { version } from '@k8s-cloud-tagger/shared/runtime/version.ts'
import { RemovalBrake } from '@k8s-cloud-tagger/shared/tagger/removal-brake.ts'
import type { TaggingRules } from '@k8s-cloud-tagger/shared/tagger/tagging-rules.ts'
import { Assembly } from './assemble.ts'
import { reportSchema, reportVersion } from './cluster-report.ts'
import type { ClusterReport } from './cluster-report.ts'
import { readCluster } from './cluster-snapshot.ts'
import type { CountedCalls } from './counted-calls.ts'
import { readDisks } from './disk-readings.ts'

export interface MakeReportDeps {
  readonly config: Config
  readonly provider: DiskProvider
  /** Whether the disks are read; else the records on the volumes are all there is. */
  readonly readsDisks: boolean
  /** Empty means all. */
  readonly namespaces: readonly string[]
  readonly sourceOf: (path: string) => Pick<ListWatchSource, 'list'>
  readonly calls: CountedCalls
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress: (stage: string, done: number, all?: number) => void
}

/** Reads one cluster and its disks. Rejects where the claims cannot be listed, or where it was aborted. */
export async function makeReport(deps: MakeReportDeps): Promise<ClusterReport> {
  const { config, provider, namespaces, calls, clock, signal, onProgress } = deps
  const generatedAtMs = clock.wallMs()
  const rules = rulesFor(config)
  const { sourceOf } = deps
  const snapshot = await readCluster({ sourceOf, needsNamespaces: rules.needsNamespace, clock, signal, onProgress })
  const tagging: TaggingRules = {
    cloud: config.cloudProvider,
    provider,
    rules,
    conflict: config.tags.onConflict,
    removes: config.tags.onRemoval === 'remove',
    adopt: config.tags.adopt !== 'none',
    brake: new RemovalBrake({
      clock,
      logger: silentLogger,
      acknowledged: config.tags.acknowledgedRemovals,
      diskCount: () => snapshot.claims.length,
    }),
  }
  const { requiredLabels } = config.admission
  const assembly = new Assembly({ snapshot, rules: tagging, namespaces, requiredLabels })
  const { disks } = assembly
  const readAtMs = clock.wallMs()
  const progress = (done: number) => onProgress('reading disks', done, disks.length)
  const readings = deps.readsDisks
    ? await readDisks(disks, { provider, clock, signal, onProgress: progress })
    : undefined
  const { claims, unread, wouldWrite } = assembly.assemble(readings, readAtMs)
  return {
    schema: reportSchema,
    version: reportVersion,
    generatedAt: isoTimestamp(generatedAtMs),
    program: version,
    cluster: config.clusterName,
    cloud: config.cloudProvider,
    configHash: rulesHash(config),
    source: deps.readsDisks ? 'cloud' : 'records',
    complete: unread.length === 0,
    unread,
    namespaces,
    requiredLabels,
    calls: { cloud: calls.cloud, kubernetes: calls.kubernetes },
    wouldWrite,
    claims,
  }
}
