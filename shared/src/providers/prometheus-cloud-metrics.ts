import type { Metrics } from '../runtime/metrics.ts'
import { startAtZero } from '../runtime/metrics.ts'
import type { CloudMetrics } from './cloud-metrics.ts'
import { providerErrorKinds } from './provider-error.ts'
import type { ProviderName } from './provider.ts'
import type { RunningProvider } from './running-provider.ts'

const operations: Readonly<Record<ProviderName, readonly string[]>> = {
  mock: [],
  aws: ['DescribeVolumes', 'CreateTags', 'DeleteTags'],
  gcp: ['disks.get', 'disks.list', 'disks.setLabels'],
  azure: ['GetTags', 'UpdateTags', 'QueryResources'],
}

/** Codes that no table knows come from a cloud, so they are many at worst; the first ones name themselves, the rest share a name. */
const unknownCodesMax = 50
const otherCode = 'other'

export function prometheusCloudMetrics(metrics: Metrics, provider: ProviderName): CloudMetrics {
  for (const operation of operations[provider]) {
    const outcomes = ['ok', ...providerErrorKinds].map((outcome) => ({ provider, operation, outcome }))
    startAtZero(metrics.cloudCalls, outcomes)
    metrics.cloudCallSeconds.zero({ provider, operation })
  }
  startAtZero(metrics.cloudThrottles, [{ provider }])
  startAtZero(metrics.cloudUnknownErrors, [{ code: otherCode }])
  const codes = new Set<string>()
  return {
    called({ operation, outcome, seconds }) {
      metrics.cloudCalls.inc({ provider, operation, outcome })
      metrics.cloudCallSeconds.observe({ provider, operation }, seconds)
    },
    throttled: () => metrics.cloudThrottles.inc({ provider }),
    unknownCode({ code }) {
      if (codes.size < unknownCodesMax) codes.add(code)
      metrics.cloudUnknownErrors.inc({ code: codes.has(code) ? code : otherCode })
    },
  }
}

/** Shows, at each scrape, what a provider allows itself. */
export function showScopes(metrics: Metrics, provider: RunningProvider): void {
  for (const { scope, slow, budgets } of provider.status()) {
    metrics.cloudScopeSlow.set({ scope }, slow ? 1 : 0)
    for (const { operation, ratePerSecond } of budgets) metrics.cloudRate.set({ scope, operation }, ratePerSecond)
  }
}
