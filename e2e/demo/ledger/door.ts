import type { AppliedRecord } from '@k8s-cloud-tagger/shared/plan/applied-record.ts'
import { sameTags } from '@k8s-cloud-tagger/shared/tags/tag-set.ts'

/**
 * Through which door a change came: the process that announced it in the record, or `sweep` where the record said before
 * that everything was right, so that only a look at the cloud can have shown the difference.
 */
export function doorOf(
  { settled, intent }: AppliedRecord,
  labels: Readonly<Record<string, string>>,
): string | undefined {
  if (intent === undefined) return undefined
  const before = new Map([...settled].map(([key, { value }]) => [key, value]))
  if (intent.by === 'reconciler' && sameTags(before, new Map(Object.entries(labels)))) return 'sweep'
  return intent.by
}
