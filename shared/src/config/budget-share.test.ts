import { expect } from 'chai'
import { budgetShare } from './budget-share.ts'
import { parseConfig } from './load-config.ts'

describe('budgetShare', () => {
  for (const [where, text, webhook, reconciler] of [
    ['with two replicas', 'budget: {webhookReplicas: 2, webhookShare: 0.8}', 0.4, 0.2],
    ['with three replicas and an even share', 'budget: {webhookReplicas: 3, webhookShare: 0.6}', 0.2, 0.4],
    ['without a webhook', 'webhook: {enabled: false}', undefined, 1],
    ['without a reconciler', 'reconciler: {enabled: false}\nbudget: {webhookReplicas: 2}', 0.5, undefined],
  ] as const) {
    it(`gives the whole budget away, and no more, ${where}`, () => {
      const config = parseConfig(text)
      const shares = {
        webhook: config.webhook.enabled ? budgetShare('webhook', config) : undefined,
        reconciler: config.reconciler.enabled ? budgetShare('reconciler', config) : undefined,
      }

      expect(shares.webhook).to.satisfy((share?: number) => same(share, webhook))
      expect(shares.reconciler).to.satisfy((share?: number) => same(share, reconciler))
      const all = (shares.webhook ?? 0) * config.budget.webhookReplicas + (shares.reconciler ?? 0)
      expect(all).to.be.closeTo(1, 1e-9)
    })
  }
})

function same(a: number | undefined, b: number | undefined): boolean {
  return a === b || Math.abs((a ?? -1) - (b ?? -1)) < 1e-9
}
