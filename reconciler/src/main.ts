import { rulesFor } from '@k8s-cloud-tagger/shared/config/rules-for.ts'
import { providerFor } from '@k8s-cloud-tagger/shared/config/provider-for.ts'
import { clusterAccess } from '@k8s-cloud-tagger/shared/kubernetes/cluster-access.ts'
import { LeaseElector } from '@k8s-cloud-tagger/shared/kubernetes/lease-elector.ts'
import { systemClock as clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import { HealthServer } from '@k8s-cloud-tagger/shared/runtime/health-server.ts'
import { createMetrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import { runProgram } from '@k8s-cloud-tagger/shared/runtime/program.ts'
import type { ProgramContext, StopProgram } from '@k8s-cloud-tagger/shared/runtime/program.ts'
import { systemRandom as random } from '@k8s-cloud-tagger/shared/runtime/random.ts'
import { version } from '@k8s-cloud-tagger/shared/runtime/version.ts'
import { showLine, workersCheck } from '@k8s-cloud-tagger/shared/tagger/line-health.ts'
import { ClaimBoard } from './claim-board.ts'
import { CachedRecordWriter, ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'
import { LeaderWork } from './leader-work.ts'
import { showMissingLabels } from './missing-labels.ts'
import { showBoard, showRules, showWatches } from './reconciler-metrics.ts'
import { Sources } from './sources.ts'
import { clusterWatches, watchChecks } from './watches.ts'

async function start({ config, logger, env, identity, namespace }: ProgramContext): Promise<StopProgram> {
  const metrics = createMetrics({ version, program: 'reconciler' })
  showRules(metrics, config)
  const outside = { clock, random, logger, metrics }
  const cluster = clusterAccess({
    ...outside,
    kubeconfig: env['KUBECONFIG'],
    version,
    instance: identity,
    namespace,
    normalEvents: config.events.normal,
  })
  const provider = providerFor('reconciler', { ...outside, config, env, openPot: cluster.openPot })
  const scope = await scopeOf(provider)
  const rules = rulesFor(config)
  const cache = new ClusterCache(config.cloudProvider)
  const sources = new Sources(cache, { needsNamespaces: rules.needsNamespace })
  const watches = clusterWatches({ ...cluster, sources, rules, clock, random, logger })
  const elector = new LeaseElector({
    transport: cluster.connection,
    namespace: config.reconciler.lease.namespace || namespace,
    name: config.reconciler.lease.name,
    identity,
    clock,
    random,
    logger,
  })
  const board = new ClaimBoard(clock)
  const work = new LeaderWork({
    ...outside,
    config,
    identity,
    namespace,
    cache,
    sources,
    board,
    records: new CachedRecordWriter(cluster.records, cache),
    events: cluster.events,
    notes: elector,
    provider,
  })
  const health = new HealthServer({
    ...config.http,
    registry: metrics.registry,
    live: [workersCheck(() => work.line), ...watchChecks(watches)],
    ready: [() => (sources.synced ? undefined : 'reconciler: claims and volumes are not all read yet')],
    beforeScrape: () => {
      metrics.leader.set(elector.isLeader ? 1 : 0)
      metrics.eventsDropped.set(cluster.events.status.dropped)
      showLine(metrics, work.line)
      showBoard(metrics, board)
      showWatches(metrics, watches)
      showMissingLabels(metrics, { cache, rules, config })
    },
  })

  const httpPort = await health.listen()
  for (const { reflector } of watches) reflector.start()
  const stopping = new AbortController()
  const leading = elector.run((term) => work.lead(term), stopping.signal)
  logger.info(
    {
      version,
      cluster: config.clusterName || undefined,
      cloudProvider: config.cloudProvider,
      scope,
      httpPort,
      sweepEvery: config.requeue.success,
    },
    'watching claims and volumes, tagging what the webhook could not',
  )

  return async () => {
    stopping.abort()
    await leading
    await Promise.all(watches.map(({ reflector }) => reflector.stop()))
    cluster.stopping.abort()
    await cluster.events.close(500)
    health.close()
    await cluster.connection.close()
  }
}

/** A provider is built anew for each term; once at the start, so that a wrong setting ends that and not the first term. */
async function scopeOf(build: ReturnType<typeof providerFor>): Promise<string> {
  const provider = await build({ readsToCome: () => 0, writesToCome: () => 0 })
  const scope = provider.scopeOf({ id: '' })
  await provider.stop()
  return scope
}

await runProgram(
  {
    name: 'reconciler',
    summary: 'Watches claims and volumes, catches what the webhook could not see, and repairs drift.',
    start,
  },
  process,
)
