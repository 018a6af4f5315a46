import { setTimeout as sleep } from 'node:timers/promises'
import type { Kube } from './kube.ts'
import { newClaim } from './volumes.ts'

/**
 * Resolves when the API server sends reviews to the webhook that was registered last: it learns of a configuration only
 * some time after it stored it. Dry-run claims are sent until `wasAsked` says that one arrived; they leave nothing behind.
 */
export async function untilReviewed(
  kube: Kube,
  wasAsked: () => boolean | Promise<boolean>,
  { timeoutMs = 15_000 }: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs
  while (performance.now() < deadlineMs) {
    await kube.claims.create(newClaim('is-the-webhook-there'), { dryRun: true })
    if (await wasAsked()) return
    await sleep(50)
  }
  throw new Error(`The API server sent no review within ${timeoutMs} ms of the webhook's registration`)
}
