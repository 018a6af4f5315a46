import type { TagProblem, TagSet } from '../../tags/tag-set.ts'

export const tagsPerDisk = 50

// Room for every label key (253 + 1 + 63), so that nothing a user tries out in memory needs another key.
const keyLengthMax = 512
const valueLengthMax = 256

/** Kept free as on a real cloud: what CSI drivers and clusters write there would be lost otherwise. */
export function isProtectedKey(key: string): boolean {
  return key.startsWith('kubernetes.io/') || key === 'KubernetesCluster'
}

/** As is, but for protected keys, values that are too long, and more tags than a disk holds. */
export function normalize(desired: TagSet): { readonly tags: TagSet; readonly problems: readonly TagProblem[] } {
  const tags = new Map<string, string>()
  const problems: TagProblem[] = []
  // In order of keys, so that the same ones are left out whatever the order of the wish.
  for (const [label, wished] of [...desired].toSorted(byKey)) {
    const obstacle = obstacleOf(label) ?? (tags.size === tagsPerDisk ? overLimit(label) : undefined)
    if (obstacle !== undefined) {
      problems.push(obstacle)
      continue
    }
    const value = cut(wished)
    tags.set(label, value)
    if (value !== wished) problems.push(wasCut(label))
  }
  return { tags, problems }
}

function obstacleOf(label: string): TagProblem | undefined {
  if (isProtectedKey(label)) {
    return dropped('protected-key', label, 'the key belongs to the cluster; the tag was left out')
  }
  if (label === '' || lengthOf(label) > keyLengthMax) {
    return dropped('invalid-key', label, `a key has 1 to ${keyLengthMax} characters; the tag was left out`)
  }
  return undefined
}

function overLimit(label: string): TagProblem {
  return dropped('over-limit', label, `a disk holds ${tagsPerDisk} tags; this one was left out`)
}

function wasCut(label: string): TagProblem {
  const message = `a value has at most ${valueLengthMax} characters; it was cut`
  return { kind: 'changed-value', label, tag: label, message }
}

function dropped(kind: TagProblem['kind'], label: string, message: string): TagProblem {
  return { kind, label, tag: undefined, message }
}

/** In code points: a cut never leaves half a character. */
function cut(value: string): string {
  return lengthOf(value) <= valueLengthMax ? value : Array.from(value).slice(0, valueLengthMax).join('')
}

function lengthOf(text: string): number {
  return Array.from(text).length
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
