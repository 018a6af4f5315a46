import { createMetrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'

/** Of the API server; what it thinks of our webhook. */
export const apiServerMetrics = [
  'apiserver_admission_webhook_fail_open_count',
  'apiserver_admission_match_condition_evaluation_errors_total',
] as const

/** Of the kubelet, for whoever reads its metrics too. */
export const kubeletMetrics = ['container_memory_working_set_bytes'] as const

/** Every series name that the programs expose. */
export function metricNames(): ReadonlySet<string> {
  const { registry } = createMetrics({ version: '', program: '' })
  const names = registry.getMetricsAsArray().flatMap((metric) => {
    const { name, type } = metric as unknown as { readonly name: string; readonly type: string }
    return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
  })
  return new Set(names)
}

/** Names of series in a PromQL expression: what looks like one, since all of ours and those above have a prefix. */
export function metricsIn(expression: string): readonly string[] {
  const withoutStrings = expression.replaceAll(/"[^"]*"/gu, '""')
  return withoutStrings.match(/\b(?:k8s_cloud_tagger|apiserver|container)_[a-z0-9_]+/gu) ?? []
}
