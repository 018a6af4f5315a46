import type { Config } from '@k8s-cloud-tagger/shared/config/config.ts'
import { atMost, pause } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Logger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import { startAtZero } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import type { Metrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import { reviewOutcomes } from './admission/decide.ts'
import type { ReviewOutcome } from './admission/decide.ts'
import { mutationOutcomes } from './admission/default-labels.ts'
import type { MutationOutcome } from './admission/default-labels.ts'
import { refusedOutcomes, reviewHandler } from './admission/handler.ts'
import type { RefusedOutcome, Reply } from './admission/handler.ts'
import type { ReviewRequest } from './admission/review.ts'
import { AdmissionServer } from './server/admission-server.ts'
import { BodyReader } from './server/body-reader.ts'
import type { CertificatePair } from './tls/certificate-pair.ts'
import { CertificateWatcher } from './tls/certificate-watcher.ts'

/** How long a stopping webhook goes on serving, in milliseconds: until endpoints have forgotten it, as far as it can wait. */
export const drainMs = 2000
/** How long requests that are still on their way get after that. */
const closeMs = 500

export interface WebhookServiceDeps {
  readonly config: Config['webhook']
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly validate: (request: ReviewRequest) => Promise<Reply<ReviewOutcome>>
  readonly mutate: (request: ReviewRequest) => Promise<Reply<MutationOutcome>>
}

/** The answering half of the webhook: listens once it has a certificate, and takes each new one up as it comes. */
export class WebhookService {
  readonly #deps: WebhookServiceDeps
  readonly #certificates: CertificateWatcher
  readonly #bodies = new BodyReader()
  #server: AdmissionServer | undefined
  #listening = false
  #draining = false
  #port: number | undefined

  constructor(deps: WebhookServiceDeps) {
    this.#deps = deps
    const { clock, logger, metrics, config } = deps
    startAtZero(
      metrics.reviews,
      [...reviewOutcomes, ...refusedOutcomes].map((outcome) => ({ outcome })),
    )
    startAtZero(
      metrics.mutations,
      mutationOutcomes.map((outcome) => ({ outcome })),
    )
    startAtZero(
      metrics.certificateReloads,
      (['loaded', 'unchanged', 'failed'] as const).map((outcome) => ({ outcome })),
    )
    this.#certificates = new CertificateWatcher({
      directory: config.certificateDirectory,
      clock,
      logger,
      onPair: (pair) => this.#take(pair),
      onAttempt: (outcome) => metrics.certificateReloads.inc({ outcome }),
    })
  }

  /** Resolves after the first look for a certificate, and rejects where the port cannot be had. */
  async start(): Promise<void> {
    await this.#certificates.start()
    await this.#opening
  }

  /** Undefined while it can be called. */
  get notReady(): string | undefined {
    if (this.#draining) return 'webhook: stopping'
    if (this.#certificates.current === undefined) {
      return `webhook: no certificate in ${this.#deps.config.certificateDirectory} yet`
    }
    return this.#listening ? undefined : 'webhook: not listening yet'
  }

  get port(): number | undefined {
    return this.#port
  }

  drain(): void {
    this.#draining = true
    this.#server?.drain()
  }

  async closeAfterDrain(): Promise<void> {
    await pause(this.#deps.clock, drainMs)
    this.#certificates.stop()
    if (this.#server === undefined) return
    await atMost(this.#deps.clock, closeMs, this.#server.close())
    this.#server.closeNow()
  }

  #opening: Promise<void> = Promise.resolve()

  #take(pair: CertificatePair): void {
    const { metrics, config, logger } = this.#deps
    metrics.certificateExpiry.set(pair.notAfterMs / 1000)
    if (this.#server !== undefined) return this.#server.exchange(pair)
    this.#server = new AdmissionServer({
      address: config.address,
      port: config.port,
      pair,
      handlers: this.#handlers(),
      onRefused: (outcome) => metrics.reviews.inc({ outcome }),
    })
    this.#opening = this.#server.listen().then((port) => {
      this.#listening = true
      this.#port = port
      logger.info({ port }, 'listening for admission reviews')
    })
  }

  #handlers() {
    const { metrics, logger, clock, validate, mutate } = this.#deps
    const onRefused = (outcome: RefusedOutcome, seconds: number) => {
      metrics.reviews.inc({ outcome })
      metrics.reviewSeconds.observe(seconds)
    }
    const frame = { bodies: this.#bodies, clock, logger, onRefused }
    return {
      '/validate': reviewHandler<ReviewOutcome>({
        ...frame,
        reply: validate,
        observe: (outcome, seconds) => {
          metrics.reviews.inc({ outcome })
          metrics.reviewSeconds.observe(seconds)
        },
      }),
      '/mutate': reviewHandler<MutationOutcome>({
        ...frame,
        reply: mutate,
        observe: (outcome, seconds) => {
          metrics.mutations.inc({ outcome })
          metrics.reviewSeconds.observe(seconds)
        },
      }),
    }
  }
}
