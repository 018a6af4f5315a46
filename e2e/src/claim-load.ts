import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kube } from './kube.ts'
import { newClaim } from './volumes.ts'

// Below what the API server and one webhook process do with ease on two shared cores.
const defaultPerSecond = 20

/** What the API server counted of its calls to one webhook. */
export interface WebhookCalls {
  readonly made: number
  /** Answered with anything but 200. */
  readonly failed: number
  /** Went on without an answer, since the webhook fails open. */
  readonly failedOpen: number
}

/** Claims created one after another, each of which is one call to the webhook, until it is stopped. */
export class ClaimLoad {
  readonly #ending = new AbortController()
  readonly #running: Promise<void>
  /** Never resolves. */
  readonly #failed: Promise<never>
  #created = 0

  constructor(kube: Kube, { namespace, perSecond = defaultPerSecond }: { namespace: string; perSecond?: number }) {
    this.#running = this.#run(kube, namespace, perSecond)
    this.#failed = new Promise((_resolve, reject) => void this.#running.catch(reject))
    // A fault is told by those who wait; until then it must not end the process as an unhandled rejection.
    this.#failed.catch(() => {})
  }

  /** Resolves when so many more were created; rejects where one was refused. */
  async more(count: number): Promise<void> {
    const wanted = this.#created + count
    while (this.#created < wanted) await Promise.race([sleep(50), this.#failed])
  }

  /** Resolves to how many were created; rejects where one was refused. */
  async stop(): Promise<number> {
    this.#ending.abort()
    await this.#running
    return this.#created
  }

  async #run(kube: Kube, namespace: string, perSecond: number): Promise<void> {
    while (!this.#ending.signal.aborted) {
      const claim = newClaim(`load-${randomUUID()}`, { namespace, labels: { load: 'true' } })
      await kube.claims.create(claim)
      this.#created++
      await sleep(1000 / perSecond)
    }
  }
}

/** Since the API server started, for the webhook of this name. */
export async function webhookCalls(kube: Kube, name: string): Promise<WebhookCalls> {
  const metrics = await kube.metrics()
  const requests = metrics.series('apiserver_admission_webhook_request_total', { name })
  const sum = (series: readonly { readonly value: number }[]) => series.reduce((total, { value }) => total + value, 0)
  return {
    made: sum(requests),
    failed: sum(requests.filter(({ labels }) => labels['code'] !== '200')),
    failedOpen: metrics.sum('apiserver_admission_webhook_fail_open_count', { name }),
  }
}
