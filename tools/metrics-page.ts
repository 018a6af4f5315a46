import { createMetrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'

export async function metricsPage(): Promise<string> {
  const { registry } = createMetrics({ version: '', program: '' })
  const rows = registry
    .getMetricsAsArray()
    .map((metric) => {
      const { name, help, type, labelNames } = metric as unknown as DescribedMetric
      const labels = labelNames.map((label) => `\`${label}\``).join(', ')
      return `| \`${name}\` | ${String(type)} | ${labels} | ${help} |`
    })
    .toSorted()
  return `<!-- Generated from shared/src/runtime/metrics.ts by 'make generate'. -->

# Metrics

Both programs serve \`/metrics\` on port 8080. Every metric is there from the start; those with labels show
their usual values at zero. Those that only one of the programs has anything to say about stay at zero in the other. What to do about them: [operations.md](operations.md).

| name | type | labels | meaning |
| --- | --- | --- | --- |
${rows.join('\n')}
`
}

interface DescribedMetric {
  readonly name: string
  readonly help: string
  readonly type: unknown
  readonly labelNames: readonly string[]
}
