export type Tags = Readonly<Record<string, string>>

export interface TagDifferences {
  readonly set: Tags
  readonly removed: readonly string[]
}

export function tagDifferences(before: Tags, after: Tags): TagDifferences {
  return {
    set: Object.fromEntries(Object.entries(after).filter(([key, value]) => before[key] !== value)),
    removed: Object.keys(before).filter((key) => !Object.hasOwn(after, key)),
  }
}

/** `team=core, tier=2; removed owner`. */
export function describeDifferences({ set, removed }: TagDifferences): string {
  const added = Object.entries(set).map(([key, value]) => `${key}=${value}`)
  return [added.join(', '), removed.length === 0 ? '' : `removed ${removed.join(', ')}`]
    .filter((part) => part !== '')
    .join('; ')
}

/** A sentence for each tag that is not as expected; exact, so that a foreign tag that is gone shows as well. */
export function tagProblems(disk: string, expected: Tags, actual: Tags): readonly string[] {
  const { set: missing } = tagDifferences(actual, expected)
  const { removed: unexpected } = tagDifferences(actual, expected)
  return [
    ...Object.entries(missing).map(
      ([key, value]) =>
        `${disk}: tag ${key} is ${actual[key] === undefined ? 'missing' : `"${actual[key]}"`}, expected "${value}"`,
    ),
    ...unexpected.map((key) => `${disk}: tag ${key}="${actual[key] ?? ''}" should not be there`),
  ]
}
