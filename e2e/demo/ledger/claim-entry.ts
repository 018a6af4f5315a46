import type { Tags } from './tag-differences.ts'

export type Cause = 'bind' | 'label' | 'hand'

/** How one claim stands, as the table shows it and as the checks read it. */
export interface ClaimEntry {
  /** `namespace/name`. */
  readonly key: string
  /** Claims of one group share a row. */
  readonly group: string | undefined
  labels: Tags
  /** Undefined before it is bound. */
  volumeName: string | undefined
  /** EC2's name of the disk; undefined where there is none, or none of EC2. */
  disk: string | undefined
  /** Why there is no disk for us, for people; undefined where there is one. */
  reason: string | undefined
  /** What was on the disk when it was first seen; nothing where that was tagged already. */
  foundTags: Tags
  /** On the disk now, whoever put them there. */
  tags: Tags
  /** Keys that some label of this claim has had. */
  readonly ourKeys: Set<string>
  /** Keys that the last change of the disk has set, whoever made it. */
  changedKeys: ReadonlySet<string>
  /** Through which the last write came. */
  door: string | undefined
  /** What is known to have happened, as wall time in milliseconds. */
  readonly happenedAtMs: Partial<Record<Cause, number>>
  /** The last write: what it followed, and how long after it. */
  lastWrite: { readonly cause: Cause; readonly afterMs: number } | undefined
}

/** The tags on the disk that come from the claim's labels, in the order of their keys. */
export function ourTags({
  tags,
  foundTags,
  ourKeys,
}: Pick<ClaimEntry, 'tags' | 'foundTags' | 'ourKeys'>): readonly (readonly [string, string])[] {
  return Object.entries(tags)
    .filter(([key, value]) => ourKeys.has(key) && foundTags[key] !== value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** Whether a disk may still come. */
export function isWaiting({ disk, reason }: Pick<ClaimEntry, 'disk' | 'reason'>): boolean {
  return disk === undefined && reason?.startsWith('skipped') !== true
}

/** The latest of what happened before `atMs`: what a write answers to. */
export function latestCause(
  happenedAtMs: ClaimEntry['happenedAtMs'],
  atMs: number,
): { readonly cause: Cause; readonly afterMs: number } | undefined {
  const before = (Object.entries(happenedAtMs) as [Cause, number][])
    .filter(([, ms]) => ms <= atMs)
    .toSorted(([, a], [, b]) => b - a)
  const [latest] = before
  return latest === undefined ? undefined : { cause: latest[0], afterMs: atMs - latest[1] }
}
