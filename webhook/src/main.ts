import { providerFor } from '@k8s-cloud-tagger/shared/config/provider-for.ts'
import { rulesFor } from '@k8s-cloud-tagger/shared/config/rules-for.ts'
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
import { admissionReplies, defaultLabelsFor } from './admission-policy.ts'
import { jobIntake } from './job-intake.ts'
import { Namespaces } from './namespaces.ts'
import { WebhookService } from './webhook-service.ts'

/** More would not fit the memory that a webhook is given; what is refused is left to the reconciler. */
const queueCapacity = 20_000
const concurrency = 1000
/** How long passes that are under way get once nothing more comes in: twice this and the drain fit into five seconds. */
const stopGraceMs = 600

async function start({ config, logger, env, identity, namespace }: ProgramContext): Promise<StopProgram> {
  const metrics = createMetrics({ version, program: 'webhook' })
  const outside = { clock, random, logger, metrics }
  const cluster = clusterAccess({
    ...outside,
    kubeconfig: env['KUBECONFIG'],
    version,
    instance: identity,
    namespace,
    normalEvents: config.events.normal,
  })
  const rules = rulesFor(config)
  const defaults = defaultLabelsFor(config, rules)
  const live = new LiveClusterReader({ api: cluster.api })
  const needsNamespaces = rules.needsNamespace || defaults.needsNamespace
  const namespaces = needsNamespaces ? new Namespaces({ ...cluster, ...outside, reader: live }) : undefined
  const line = await createTaggingLine({
    ...outside,
    config,
    diskCount: () => 0,
    identity,
    queueCapacity,
    concurrency,
    reader: namespaces?.readerOver(live) ?? live,
    records: cluster.records,
    events: cluster.events,
    observer: new PassMetrics(metrics),
    handOverAfterMs: config.reconciler.enabled ? durationMs(config.reconciler.headStart) : undefined,
    provider: providerFor('webhook', { ...outside, config, env, openPot: cluster.openPot }),
  })
  const service = new WebhookService({
    ...outside,
    config: config.webhook,
    ...admissionReplies({
      config,
      rules,
      defaults,
      normalize: (desired, enforced) => line.provider.normalize(desired, enforced),
      findNamespace: namespaces && ((name) => namespaces.find(name)),
      enqueue: jobIntake({ clock, queue: line.queue, onOverflow: () => metrics.queueOverflows.inc() }),
      metrics,
    }),
  })
  const health = new HealthServer({
    ...config.http,
    registry: metrics.registry,
    live: [workersCheck(() => line), () => namespaces?.stuck],
    ready: [() => service.notReady, () => namespaces?.notReady],
    beforeScrape: () => {
      if (namespaces !== undefined) metrics.watchRestarts.set({ resource: 'namespaces' }, namespaces.restarts)
      showLine(metrics, line)
      metrics.eventsDropped.set(cluster.events.status.dropped)
    },
  })

  namespaces?.start()
  line.start()
  const httpPort = await health.listen()
  await service.start()
  const scope = line.provider.scopeOf({ id: '' })
  const { clusterName, cloudProvider, webhook } = config
  const said = { version, cluster: clusterName || undefined, cloudProvider, scope, httpPort }
  logger.info(
    { ...said, certificates: webhook.certificateDirectory },
    'answering admission reviews of claims, tagging their disks',
  )

  return async () => {
    service.drain()
    // Nobody is refused meanwhile, and what comes in is still done.
    await service.closeAfterDrain()
    await Promise.all([line.stop(stopGraceMs), namespaces?.stop()])
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
