import { providerFor } from '@k8s-cloud-tagger/shared/config/provider-for.ts'
import { clusterAccess } from '@k8s-cloud-tagger/shared/kubernetes/cluster-access.ts'
import { LiveClusterReader } from '@k8s-cloud-tagger/shared/kubernetes/live-cluster.ts'
import { systemClock as clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import { durationMs } from '@k8s-cloud-tagger/shared/runtime/duration.ts'
import { HealthServer } from '@k8s-cloud-tagger/shared/runtime/health-server.ts'
import { createMetrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import { runProgram } from '@k8s-cloud-tagger/shared/runtime/program.ts'
import type { ProgramContext, StopProgram } from '@k8s-cloud-tagger/shared/runtime/program.ts'
import { systemRandom as random } from '@k8s-cloud-tagger/shared/runtime/random.ts'
import { version } from '@k8s-cloud-tagger/shared/runtime/version.ts'
import { showLine, workersCheck } from '@k8s-cloud-tagger/shared/tagger/line-health.ts'
import { PassMetrics } from '@k8s-cloud-tagger/shared/tagger/pass-metrics.ts'
import { createTaggingLine } from '@k8s-cloud-tagger/shared/tagger/tagging-line.ts'
import { jobIntake } from './job-intake.ts'
import { WebhookService } from './webhook-service.ts'

/** More would not fit the memory that a webhook is given; what is refused is left to the reconciler. */
const queueCapacity = 20_000
const concurrency = 1000
/** How long passes that are under way get once nothing more comes in: twice this and the drain fit into five seconds. */
const stopGraceMs = 600

async function start({ config, logger, env, identity, namespace }: ProgramContext): Promise<StopProgram> {
  const metrics = createMetrics({ version, program: 'webhook' })
  const cluster = clusterAccess({
    kubeconfig: env['KUBECONFIG'],
    version,
    instance: identity,
    namespace,
    normalEvents: config.events.normal,
    clock,
    random,
    logger,
    metrics,
  })
  const line = await createTaggingLine({
    config,
    diskCount: () => 0,
    clock,
    random,
    logger,
    identity,
    queueCapacity,
    concurrency,
    reader: new LiveClusterReader({ api: cluster.api }),
    records: cluster.records,
    events: cluster.events,
    observer: new PassMetrics(metrics),
    handOverAfterMs: config.reconciler.enabled ? durationMs(config.reconciler.headStart) : undefined,
    provider: providerFor('webhook', { config, clock, random, logger, metrics, env, openPot: cluster.openPot }),
  })
  const service = new WebhookService({
    config: config.webhook,
    clock,
    logger,
    metrics,
    enqueue: jobIntake({ clock, queue: line.queue, onOverflow: () => metrics.queueOverflows.inc() }),
  })
  const health = new HealthServer({
    ...config.http,
    registry: metrics.registry,
    live: [workersCheck(() => line)],
    ready: [() => service.notReady],
    beforeScrape: () => {
      showLine(metrics, line)
      metrics.eventsDropped.set(cluster.events.status.dropped)
    },
  })

  line.start()
  const httpPort = await health.listen()
  await service.start()
  logger.info(
    {
      version,
      cluster: config.clusterName || undefined,
      cloudProvider: config.cloudProvider,
      scope: line.provider.scopeOf({ id: '' }),
      httpPort,
      certificates: config.webhook.certificateDirectory,
    },
    'answering admission reviews of claims, tagging their disks',
  )

  return async () => {
    service.drain()
    // Nobody is refused meanwhile, and what comes in is still done.
    await service.closeAfterDrain()
    await line.stop(stopGraceMs)
    cluster.stopping.abort()
    await cluster.events.close(500)
    health.close()
    await cluster.connection.close()
  }
}

await runProgram(
  {
    name: 'webhook',
    summary: 'Sees claims as they are created and changed, and tags the disks behind them at once.',
    start,
  },
  process,
)
