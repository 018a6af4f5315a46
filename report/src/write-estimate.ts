import type { Cloud } from '@k8s-cloud-tagger/shared/claims/disk-sources.ts'
import type { TagChanges } from '@k8s-cloud-tagger/shared/plan/tag-changes.ts'
import { cheapestCalls, nameOfAll, namedPairs } from '@k8s-cloud-tagger/shared/providers/write-grouping.ts'
import type { Pair, WriteGroup } from '@k8s-cloud-tagger/shared/providers/write-grouping.ts'

/** How many ids EC2 takes in one call. */
const idsPerCall = 1000
/** As many as the provider weighs at once; more would cost their square. */
const groupsAtOnce = 500

/** How many calls the product would spend on these writes, if all came at once; the reads before them do not count. */
export function estimateCalls(cloud: Cloud, changes: ReadonlyMap<string, TagChanges>): number {
  if (cloud !== 'aws') return changes.size
  const groups = new Map<string, { readonly write: WriteGroup<string>['write']; readonly jobs: Set<string> }>()
  for (const [disk, { set, remove }] of changes) {
    const removals = [...remove].flatMap(([key, values]) => values.map((value): Pair => [key, value]))
    const write = { set: namedPairs([...set]), remove: namedPairs(removals) }
    const name = `${nameOfAll(write.set)}\0\0\0${nameOfAll(write.remove)}`
    const group = groups.get(name) ?? { write, jobs: new Set() }
    group.jobs.add(disk)
    groups.set(name, group)
  }
  const inOrder = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
  let calls = 0
  for (let at = 0; at < inOrder.length; at += groupsAtOnce) {
    calls += cheapestCalls(inOrder.slice(at, at + groupsAtOnce), idsPerCall).length
  }
  return calls
}
