import { Counter, Gauge, Histogram, Registry } from 'prom-client'

const prefix = 'k8s_cloud_tagger_'
const resource = 'persistentvolumeclaim'

/** Seconds. A cloud call takes tens of milliseconds and is given up after ten seconds or so. */
const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Seconds. An answer takes well under a millisecond, and the API server waits for two seconds. */
const reviewBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2]

export interface MetricsOptions {
  readonly version: string
  readonly program: string
}

/**
 * Every metric of both programs, in one place and at zero from the start, so that no dashboard shows a gap and no alert
 * waits for the first failure. Label values come from closed sets; what a tenant writes becomes one only in
 * `removals_held` and `untagged_required`, which show no more than a hundred.
 */
export function createMetrics({ version, program }: MetricsOptions) {
  const registry = new Registry()
  const make = makersFor(registry)
  const metrics = {
    registry,
    ...passMetrics(make),
    ...cloudMetrics(make),
    ...webhookMetrics(make),
    ...reconcilerMetrics(make),
    buildInfo: make.gauge('build_info', 'Always 1; the version of this program.', ['version', 'program']),
  }
  metrics.buildInfo.set({ version, program }, 1)
  metrics.reconcilesActive.set({ resource }, 0)
  return metrics
}

export type Metrics = ReturnType<typeof createMetrics>

type Makers = ReturnType<typeof makersFor>

function makersFor(registry: Registry) {
  const registers = [registry]
  return {
    counter: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Counter<L>({ name: prefix + name, help, labelNames: [...labelNames], registers }),
    gauge: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Gauge<L>({ name: prefix + name, help, labelNames: [...labelNames], registers }),
    histogram: <L extends string>(name: string, help: string, labelNames: readonly L[], buckets = callBuckets) =>
      new Histogram<L>({ name: prefix + name, help, labelNames: [...labelNames], buckets, registers }),
  }
}

/** What both programs do with claims. */
function passMetrics({ counter, gauge, histogram }: Makers) {
  return {
    reconciles: counter('reconcile_total', 'Passes over the path, by how they ended.', ['resource', 'outcome']),
    reconcileSeconds: histogram('reconcile_duration_seconds', 'How long a pass took.', ['resource']),
    reconcilesActive: gauge('reconcile_active', 'Passes under way.', ['resource']),
    errors: counter('errors_total', 'Failed passes, by what failed.', ['resource', 'error_type']),
    kubernetesCalls: counter('kubernetes_calls_total', 'Calls to the API server, by how they ended.', [
      'method',
      'outcome',
    ]),
    queueDepth: gauge('queue_depth', 'Claims that wait, by what for.', ['state']),
    queueOldestSeconds: gauge('queue_oldest_seconds', 'How long the oldest claim that could be worked on has waited.'),
    queueOverflows: counter('queue_overflow_total', 'Claims that the full queue did not take.'),
    handedOver: counter('handed_over_total', 'Claims that the webhook left to the reconciler.'),
    // Counted where they happen; read at each scrape.
    eventsDropped: gauge('events_dropped', 'Events that were not told since the start.'),
    watchRestarts: gauge('watch_restarts', 'Faults after which a watch was taken up again since the start.', [
      'resource',
    ]),
  }
}

/** Calls to the cloud, and what it allows. */
function cloudMetrics({ counter, gauge, histogram }: Makers) {
  return {
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
  }
}

/** What only the webhook has to say. */
function webhookMetrics({ counter, gauge, histogram }: Makers) {
  return {
    reviews: counter('reviews_total', 'Admission reviews, by what came of them.', ['outcome']),
    mutations: counter('mutations_total', 'Reviews by the mutating webhook, by what came of them.', ['outcome']),
    admissionProblems: counter(
      'admission_problems_total',
      'Problems of labels and annotations that an admission answer told, dry runs left out.',
      ['kind', 'verdict'],
    ),
    reviewSeconds: histogram('review_duration_seconds', 'How long an admission answer took.', [], reviewBuckets),
    certificateExpiry: gauge(
      'certificate_expiry_timestamp_seconds',
      'When the served certificate expires; 0 where there is none.',
    ),
    certificateReloads: counter('certificate_reloads_total', 'Attempts to load the certificate, by how they ended.', [
      'outcome',
    ]),
  }
}

/** What only the reconciler has to say. */
function reconcilerMetrics({ counter, gauge }: Makers) {
  return {
    missedByWebhook: counter('missed_by_webhook_total', 'Live changes that the reconciler had to do for the webhook.'),
    claims: gauge('claims', 'Claims by state and reason.', ['state', 'reason']),
    oldestPending: gauge(
      'oldest_pending_seconds',
      'How long the claim that has waited longest for its tags has waited.',
    ),
    untaggedRequired: gauge(
      'untagged_required',
      'Managed, bound claims without a label that is required, by namespace; the first namespaces only, and off by default.',
      ['namespace', 'key'],
    ),
    removalBrake: gauge('removal_brake', '1 while removals of a tag from many disks wait to be acknowledged.'),
    removalsHeld: gauge('removals_held', 'Disks from which a tag is not removed before somebody acknowledges it.', [
      'key',
    ]),
    reportOnly: gauge('report_only', '1 where everything is computed and nothing is written.'),
    rulesInfo: gauge('rules_info', 'Always 1; tells apart the rules that clusters run with.', ['hash']),
    leader: gauge('leader', '1 while this process leads.'),
    lastSweep: gauge(
      'last_sweep_timestamp_seconds',
      'When the last complete drift sweep ended; 0 where there was none.',
    ),
    sweepSeconds: gauge('sweep_duration_seconds', 'How long the last complete drift sweep took.'),
    sweeps: counter('sweeps_total', 'Drift sweeps, by how they ended.', ['outcome']),
    driftFound: counter('drift_found_total', 'Disks that a sweep found to differ from their claims.'),
  }
}

/** Puts a labelled counter at zero for each value, so that its first increase is seen as one. */
export function startAtZero<L extends string>(
  counter: Counter<L>,
  labels: readonly Readonly<Record<L, string>>[],
): void {
  for (const each of labels) counter.inc(each, 0)
}
