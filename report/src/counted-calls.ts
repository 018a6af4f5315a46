import type { CloudMetrics } from '@k8s-cloud-tagger/shared/providers/cloud-metrics.ts'

/** Counts the calls of one run, for the report itself to tell. */
export class CountedCalls implements CloudMetrics {
  readonly #byOperation = new Map<string, number>()
  kubernetes = 0

  get cloud(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#byOperation].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  called({ operation }: { readonly operation: string }): void {
    this.#byOperation.set(operation, (this.#byOperation.get(operation) ?? 0) + 1)
  }

  throttled(): void {}

  unknownCode(): void {}
}
