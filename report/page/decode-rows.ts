import { claimStates, tagStates } from '../src/cluster-report.ts'
import type { ClaimProblem, ClaimRow, TagReason, TagRow } from '../src/cluster-report.ts'
import type { PageData, PageRow } from '../src/html/page-data.ts'

export type DecodedClaim = Omit<ClaimRow, 'record'> & { readonly cluster: string }

export function decodeRow(data: PageData, row: PageRow): DecodedClaim {
  const text = (index: number | undefined) => data.texts[index ?? -1]
  const [
    cluster,
    namespace,
    name,
    storageClass,
    volume,
    disk,
    state,
    reason,
    detail,
    otherTags,
    tags,
    problems,
    missing,
  ] = row
  return {
    cluster: data.clusters[cluster] ?? '',
    namespace: text(namespace) ?? '',
    name,
    ...optional('storageClass', text(storageClass)),
    ...optional('volume', volume === '' ? undefined : volume),
    ...optional('disk', disk === '' ? undefined : disk),
    state: claimStates[state] ?? 'unread',
    ...optional('reason', text(reason)),
    ...optional('detail', text(detail)),
    otherTags,
    tags: inGroups(tags, 5).map((group) => decodeTag(group, text)),
    problems: inGroups(problems, 3).map((group) => decodeProblem(group, text)),
    missingLabels: missing.flatMap((index) => text(index) ?? []),
  }
}

type TextAt = (index: number | undefined) => string | undefined

function decodeTag([key, value, present, state, reason]: readonly number[], text: TextAt): TagRow {
  return {
    key: text(key) ?? '',
    ...optional('value', text(value)),
    ...optional('present', text(present)),
    state: tagStates[state ?? -1] ?? 'unknown',
    ...optional('reason', text(reason) as TagReason | undefined),
  }
}

function decodeProblem([kind, label, message]: readonly number[], text: TextAt): ClaimProblem {
  return { kind: text(kind) ?? '', ...optional('label', text(label)), message: text(message) ?? '' }
}

function inGroups(numbers: readonly number[], size: number): readonly (readonly number[])[] {
  const groups: (readonly number[])[] = []
  for (let at = 0; at < numbers.length; at += size) groups.push(numbers.slice(at, at + size))
  return groups
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: Value })
}
