import type { ClaimKey } from '../claims/claim-key.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { startAtZero } from '../runtime/metrics.ts'
import type { PassObserver } from './claim-worker.ts'
import { outcomeKinds } from './outcome.ts'
import type { Outcome } from './outcome.ts'

const resource = 'persistentvolumeclaim'

/** Counts passes. Others who want to know are told too. */
export class PassMetrics implements PassObserver {
  readonly #metrics: Metrics
  readonly #next: Pick<PassObserver, 'passed'> | undefined

  constructor(metrics: Metrics, next?: Pick<PassObserver, 'passed'>) {
    this.#metrics = metrics
    this.#next = next
    startAtZero(
      metrics.reconciles,
      outcomeKinds.map((outcome) => ({ resource, outcome })),
    )
    metrics.reconcileSeconds.zero({ resource })
    startAtZero(
      metrics.errors,
      ['cloud', 'kubernetes'].map((error_type) => ({ resource, error_type })),
    )
  }

  passed(key: ClaimKey, outcome: Outcome, pass: Parameters<PassObserver['passed']>[2]): void {
    this.#metrics.reconciles.inc({ resource, outcome: outcome.kind })
    this.#metrics.reconcileSeconds.observe({ resource }, pass.seconds)
    if (outcome.kind === 'cloud-failure') this.#metrics.errors.inc({ resource, error_type: 'cloud' })
    if (outcome.kind === 'cluster-failure') this.#metrics.errors.inc({ resource, error_type: 'kubernetes' })
    this.#next?.passed(key, outcome, pass)
  }

  handedOver(): void {
    this.#metrics.handedOver.inc()
  }
}
