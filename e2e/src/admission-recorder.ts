import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { CertificateAuthority } from '@k8s-cloud-tagger/shared/testing/certificates.ts'
import type { Cluster } from './cluster.ts'
import type { WebhookEndpoint } from './cluster-setup.ts'
import type { KubeObject } from './kube-objects.ts'

export interface RecordedReview {
  readonly operation: string
  readonly namespace: string
  readonly name: string
  /** Of the request's user. */
  readonly user: string
  readonly dryRun: boolean
  readonly object: ReviewedClaim
  readonly oldObject: ReviewedClaim | undefined
  /** Monotonic, comparable with `performance.now()` in this process. */
  readonly receivedMs: number
}

export interface ReviewedClaim extends KubeObject {
  readonly spec: { readonly volumeName?: string }
  readonly status?: { readonly phase?: string }
}

interface Review {
  readonly request: {
    readonly uid: string
    readonly operation: string
    readonly namespace: string
    readonly name?: string
    readonly userInfo: { readonly username: string }
    readonly dryRun?: boolean
    readonly object: ReviewedClaim
    readonly oldObject: ReviewedClaim | null
  }
}

/** An admission webhook that allows everything and writes down what it was asked. */
export class AdmissionRecorder {
  readonly endpoint: WebhookEndpoint
  readonly reviews: RecordedReview[] = []
  readonly #server: Server

  private constructor(server: Server, endpoint: WebhookEndpoint) {
    this.#server = server
    this.endpoint = endpoint
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response))
  }

  static async start(cluster: Cluster): Promise<AdmissionRecorder> {
    const authority = await CertificateAuthority.create('admission recorder')
    const { certificate, key } = await authority.issue([cluster.webhookHost])
    const server = createServer({ cert: certificate, key })
    server.listen(0, cluster.webhookBindAddress)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const url = `https://${cluster.webhookHost}:${port}/validate`
    return new AdmissionRecorder(server, { url, caPem: authority.certificate })
  }

  of(claim: { readonly metadata: { readonly name: string } }): readonly RecordedReview[] {
    return this.reviews.filter(({ object }) => object.metadata.name === claim.metadata.name)
  }

  forget(): void {
    this.reviews.length = 0
  }

  /** Resolves when such a review has come, or has been there. */
  async waitFor(holds: (review: RecordedReview) => boolean, { timeoutMs = 10_000 } = {}): Promise<RecordedReview> {
    const deadlineMs = performance.now() + timeoutMs
    for (;;) {
      const found = this.reviews.find(holds)
      if (found !== undefined) return found
      if (performance.now() > deadlineMs) throw new Error(`No such review among ${this.reviews.length}`)
      await sleep(5)
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const receivedMs = performance.now()
    const { request: review } = (await json(request)) as Review
    this.reviews.push({
      operation: review.operation,
      namespace: review.namespace,
      name: review.name ?? '',
      user: review.userInfo.username,
      dryRun: review.dryRun === true,
      object: review.object,
      oldObject: review.oldObject ?? undefined,
      receivedMs,
    })
    const answer = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: review.uid, allowed: true },
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  }
}
