import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 250

/** Resolves when `check` holds; rejects after `timeoutMs`, default 90,000. For what cannot be watched. */
export async function until(
  what: string,
  check: () => boolean | Promise<boolean>,
  { timeoutMs = 90_000 }: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs
  while (performance.now() < deadlineMs) {
    if (await check()) return
    await sleep(pollMs)
  }
  throw new Error(`Waited in vain until ${what}`)
}
