import type { Config } from '@k8s-cloud-tagger/shared/config/config.ts'
import type { Metrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import { isManaged } from '@k8s-cloud-tagger/shared/tagger/tagging-rules.ts'
import type { TagRules } from '@k8s-cloud-tagger/shared/tags/tag-rules.ts'
import type { ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'

/** A series for each namespace and label would be the tenants' to multiply. */
const namespacesMax = 100

/** Shows which namespaces have bound, managed claims without a label that is required, those with the most first. */
export function showMissingLabels(
  metrics: Metrics,
  { cache, rules, config }: { readonly cache: ClusterCache; readonly rules: TagRules; readonly config: Config },
): void {
  const required = config.admission.requiredLabels
  if (!config.metrics.requiredByNamespace || required.length === 0) return
  const byNamespace = missingByNamespace(required, cache, rules)
  metrics.untaggedRequired.reset()
  const most = (counts: ReadonlyMap<string, number>) => Math.max(...counts.values())
  const shown = [...byNamespace].toSorted(([, a], [, b]) => most(b) - most(a)).slice(0, namespacesMax)
  for (const [namespace, counts] of shown) {
    for (const [key, count] of counts) metrics.untaggedRequired.set({ namespace, key }, count)
  }
}

function missingByNamespace(
  required: readonly string[],
  cache: ClusterCache,
  rules: TagRules,
): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const byNamespace = new Map<string, Map<string, number>>()
  for (const key of cache.claimKeys()) {
    const claim = cache.claimNow(key)
    if (claim?.volumeName === undefined) continue
    const namespace = cache.namespaceNow(claim.namespace)
    const missing = required.filter((label) => !Object.hasOwn(claim.labels, label))
    if (missing.length === 0 || !isManaged({ claim, namespace }, { rules })) continue
    const counts = byNamespace.get(claim.namespace) ?? new Map<string, number>()
    for (const label of missing) counts.set(label, (counts.get(label) ?? 0) + 1)
    byNamespace.set(claim.namespace, counts)
  }
  return byNamespace
}
