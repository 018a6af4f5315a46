import { Counter, Gauge, Histogram, Registry } from 'prom-client'

const prefix = 'k8s_cloud_tagger_'
const resource = 'persistentvolumeclaim'

/** Seconds. A cloud call takes tens of milliseconds and is given up after ten seconds or so. */
const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export interface MetricsOptions {
  readonly version: string
  readonly program: string
}

/**
 * Every metric of both programs, in one place and at zero from the start, so that no dashboard shows a gap and no alert
 * waits for the first failure. Label values come from closed sets; nothing a tenant writes becomes one.
 */
export function createMetrics({ version, program }: MetricsOptions) {
  const registry = new Registry()
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name: prefix + name, help, labelNames: [...labelNames], registers })
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name: prefix + name, help, labelNames: [...labelNames], registers })
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Histogram<L>({ name: prefix + name, help, labelNames: [...labelNames], buckets: callBuckets, registers })

  const metrics = {
    registry,
    reconciles: counter('reconcile_total', 'Passes over the path, by how they ended.', ['resource', 'outcome']),
    reconcileSeconds: histogram('reconcile_duration_seconds', 'How long a pass took.', ['resource']),
    reconcilesActive: gauge('reconcile_active', 'Passes under way.', ['resource']),
    errors: counter('errors_total', 'Failed passes, by what failed.', ['resource', 'error_type']),
    cloudCalls: counter('cloud_calls_total', 'Calls to the cloud, by how they ended.', [
      'provider',
      'operation',
      'outcome',
    ]),
    cloudCallSeconds: histogram('cloud_call_duration_seconds', 'How long calls to the cloud took.', [
      'provider',
      'operation',
    ]),
    cloudThrottles: counter('cloud_throttles_total', 'Calls that the cloud refused as too many.', ['provider']),
    cloudUnknownErrors: counter('cloud_unknown_errors_total', 'Error codes of the cloud that no table knows.', [
      'code',
    ]),
    cloudRate: gauge('cloud_rate_per_second', 'Calls a second that this process allows itself now.', [
      'scope',
      'operation',
    ]),
    cloudScopeSlow: gauge('cloud_scope_slow', '1 while an account scope is in the slow lane because it denies us.', [
      'scope',
    ]),
    kubernetesCalls: counter('kubernetes_calls_total', 'Calls to the API server, by how they ended.', [
      'method',
      'outcome',
    ]),
    queueDepth: gauge('queue_depth', 'Claims that wait, by what for.', ['state']),
    queueOldestSeconds: gauge('queue_oldest_seconds', 'How long the oldest claim that could be worked on has waited.'),
    queueOverflows: counter('queue_overflow_total', 'Claims that the full queue did not take.'),
    handedOver: counter('handed_over_total', 'Claims that the webhook left to the reconciler.'),
    reviews: counter('reviews_total', 'Admission reviews, by what came of them.', ['outcome']),
    reviewSeconds: new Histogram({
      name: `${prefix}review_duration_seconds`,
      help: 'How long an admission answer took.',
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2],
      registers,
    }),
    missedByWebhook: counter('missed_by_webhook_total', 'Live changes that the reconciler had to do for the webhook.'),
    certificateExpiry: gauge(
      'certificate_expiry_timestamp_seconds',
      'When the served certificate expires; 0 where there is none.',
    ),
    certificateReloads: counter('certificate_reloads_total', 'Attempts to load the certificate, by how they ended.', [
      'outcome',
    ]),
    claims: gauge('claims', 'Claims by state and reason.', ['state', 'reason']),
    leader: gauge('leader', '1 while this process leads.'),
    lastSweep: gauge(
      'last_sweep_timestamp_seconds',
      'When the last complete drift sweep ended; 0 where there was none.',
    ),
    sweepSeconds: gauge('sweep_duration_seconds', 'How long the last complete drift sweep took.'),
    sweeps: counter('sweeps_total', 'Drift sweeps, by how they ended.', ['outcome']),
    driftFound: counter('drift_found_total', 'Disks that a sweep found to differ from their claims.'),
    // Counted where they happen; read at each scrape.
    eventsDropped: gauge('events_dropped', 'Events that were not told since the start.'),
    watchRestarts: gauge('watch_restarts', 'Faults after which a watch was taken up again since the start.', [
      'resource',
    ]),
    buildInfo: gauge('build_info', 'Always 1; the version of this program.', ['version', 'program']),
  }
  metrics.buildInfo.set({ version, program }, 1)
  metrics.reconcilesActive.set({ resource }, 0)
  return metrics
}

export type Metrics = ReturnType<typeof createMetrics>

/** Puts a labelled counter at zero for each value, so that its first increase is seen as one. */
export function startAtZero<L extends string>(
  counter: Counter<L>,
  labels: readonly Readonly<Record<L, string>>[],
): void {
  for (const each of labels) counter.inc(each, 0)
}
