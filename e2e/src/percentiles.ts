/** Of a sample of measurements, in their own unit. Nearest rank: every figure is one that was measured. */
export interface Distribution {
  readonly count: number
  readonly min: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
  readonly mean: number
}

export function distribution(samples: readonly number[]): Distribution {
  if (samples.length === 0) throw new Error('No sample, no distribution')
  const sorted = samples.toSorted((a, b) => a - b)
  const mean = sorted.reduce((sum, sample) => sum + sample, 0) / sorted.length
  return {
    count: sorted.length,
    min: percentile(sorted, 0),
    p50: percentile(sorted, 50),
    p90: percentile(sorted, 90),
    p99: percentile(sorted, 99),
    max: percentile(sorted, 100),
    mean,
  }
}

/** `sorted` in ascending order; `percent` from 0 to 100. */
export function percentile(sorted: readonly number[], percent: number): number {
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length))
  const value = sorted[rank - 1]
  if (value === undefined) throw new Error('No sample, no percentile')
  return value
}

/** One line for people: `p50 12.1 ms, p90 20.4 ms, p99 33.0 ms, max 41.7 ms (n = 200)`. */
export function describeMs(samples: readonly number[]): string {
  const { count, p50, p90, p99, max } = distribution(samples)
  const ms = (value: number) => `${value.toFixed(1)} ms`
  return `p50 ${ms(p50)}, p90 ${ms(p90)}, p99 ${ms(p99)}, max ${ms(max)} (n = ${count})`
}
