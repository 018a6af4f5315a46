import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { startAtZero } from '../runtime/metrics.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Random } from '../runtime/random.ts'
import { CallGate } from './call-gate.ts'
import { ClusterConnection } from './connection.ts'
import { kubeconfigFiles, podServiceAccount } from './credentials.ts'
import { BudgetPot, type BudgetPotOptions } from './budget-pot.ts'
import { EventRecorder } from './event-recorder.ts'
import { GatedApi } from './gated-api.ts'
import { kubernetesErrorKinds } from './kubernetes-error.ts'
import { JsonPatchRecordWriter } from './record-writer.ts'

export interface ClusterAccessOptions {
  /** The value of KUBECONFIG; undefined or empty means the pod's own service account. */
  readonly kubeconfig: string | undefined
  readonly version: string
  readonly instance: string
  /** The program's own. */
  readonly namespace: string
  readonly normalEvents: boolean
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: Metrics
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'WATCH'] as const

/** Everything that a program needs to speak to its API server, on one pool of connections and behind one gate. */
export function clusterAccess(options: ClusterAccessOptions) {
  const { clock, random, logger, metrics, instance, normalEvents, version } = options
  const paths = (options.kubeconfig ?? '').split(process.platform === 'win32' ? ';' : ':').filter((path) => path !== '')
  startAtZero(
    metrics.kubernetesCalls,
    methods.flatMap((method) => ['ok', ...kubernetesErrorKinds].map((outcome) => ({ method, outcome }))),
  )
  const connection = new ClusterConnection({
    load: paths.length > 0 ? kubeconfigFiles(paths) : podServiceAccount(),
    version,
    clock,
    logger,
    onCall: ({ method, outcome }) => metrics.kubernetesCalls.inc({ method, outcome }),
  })
  const gate = new CallGate({ clock, random })
  const api = new GatedApi({ transport: connection, gate })
  const records = new JsonPatchRecordWriter({ api })
  const events = new EventRecorder({ api, clock, random, logger, instance, normal: normalEvents })
  const stopping = new AbortController()
  const openPot = (rates: BudgetPotOptions['rates']) =>
    new BudgetPot({
      transport: connection,
      namespace: options.namespace,
      clock,
      logger,
      signal: stopping.signal,
      rates,
    })
  return { connection, gate, api, records, events, openPot, stopping }
}
