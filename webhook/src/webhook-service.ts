import type { Config } from '@k8s-cloud-tagger/shared/config/config.ts'
import { atMost, pause } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Logger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import { startAtZero } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import type { Metrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import { reviewOutcomes } from './admission/decide.ts'
import type { Job } from './admission/decide.ts'
import { refusedOutcomes, validateHandler } from './admission/handler.ts'
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
  readonly enqueue: (job: Job) => void
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
    const { metrics, config, logger, clock, enqueue } = this.#deps
    metrics.certificateExpiry.set(pair.notAfterMs / 1000)
    if (this.#server !== undefined) return this.#server.exchange(pair)
    const observe = (outcome: string, seconds: number) => {
      metrics.reviews.inc({ outcome })
      metrics.reviewSeconds.observe(seconds)
    }
    this.#server = new AdmissionServer({
      address: config.address,
      port: config.port,
      pair,
      validate: validateHandler({ bodies: this.#bodies, clock, logger, enqueue, observe }),
      onRefused: (outcome) => metrics.reviews.inc({ outcome }),
    })
    this.#opening = this.#server.listen().then((port) => {
      this.#listening = true
      this.#port = port
      logger.info({ port }, 'listening for admission reviews')
    })
  }
}
