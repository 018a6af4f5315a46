import type { AppliedRecord } from '../plan/applied-record.ts'
import type { Plan } from '../plan/plan.ts'
import type { TagSet } from '../tags/tag-set.ts'

/** Keys that the plan sets again, although we had written just that value: somebody else changed it. */
export function rewrittenKeys(
  { changes }: Plan,
  record: AppliedRecord | undefined,
  observed: TagSet,
): readonly string[] {
  return [...changes.set]
    .filter(([key, value]) => record?.settled.get(key)?.value === value && observed.get(key) !== value)
    .map(([key]) => key)
}

/** The same plan, but for writing these. What was settled stays settled: the next sweep compares it. */
export function withoutKeys(plan: Plan, keys: readonly string[]): Plan {
  if (keys.length === 0) return plan
  const set = new Map(plan.changes.set)
  const touched = new Map(plan.touched)
  for (const key of keys) {
    set.delete(key)
    touched.delete(key)
  }
  return { ...plan, changes: { ...plan.changes, set }, touched }
}
