import { percentile } from '../src/percentiles.ts'

export function median(samples: readonly number[]): { readonly medianMs: number | undefined; readonly count: number } {
  const count = samples.length
  return {
    count,
    medianMs:
      count === 0
        ? undefined
        : percentile(
            samples.toSorted((a, b) => a - b),
            50,
          ),
  }
}
