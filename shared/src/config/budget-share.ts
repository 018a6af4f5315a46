import type { Config } from './config.ts'

/** The part of the installation's budget that one process may use: stated, since the processes do not talk to each other. */
export function budgetShare(program: 'webhook' | 'reconciler', { budget, webhook, reconciler }: Config): number {
  if (program === 'reconciler') return webhook.enabled ? 1 - budget.webhookShare : 1
  return (reconciler.enabled ? budget.webhookShare : 1) / budget.webhookReplicas
}
