import type { TagProblem, TagProblemKind, TagSet } from '../../tags/tag-set.ts'
import { isProtectedKey } from './protected-keys.ts'
import { TagsByName, foldedName } from './tag-names.ts'

export const tagsPerDisk = 50

const keyLengthMax = 512
const valueLengthMax = 256

interface Candidate {
  readonly label: string
  readonly key: string
  readonly value: string
  readonly changes: readonly TagProblem[]
}

interface Sorted {
  readonly candidates: readonly Candidate[]
  readonly problems: readonly TagProblem[]
}

/**
 * The form that Azure takes. Values stay as they are; of keys only what Azure forbids changes:
 *
 * - `/` becomes `:`, which no label key can hold, so that no two labels meet by it;
 * - a value of more than 256 characters is cut;
 * - protected keys, other forbidden characters (`< > % & \ ?` and control characters) and keys of more than 512
 *   characters are left out.
 *
 * Azure takes names that differ only in case for one. Where labels meet so, the one that needed no change wins, then the
 * first in order of its key, in its own case; the others are reported. Of more than 50 tags the first 50 in order of the
 * tag's key stay: this limits our own number only.
 *
 * Lengths are counted in UTF-16 units, as .NET does. The tags are found in any case (`TagsByName`).
 */
export function normalize(
  desired: TagSet,
  optedIn: ReadonlySet<string> = new Set(),
): { readonly tags: TagSet; readonly problems: readonly TagProblem[] } {
  const { candidates, problems: refusals } = sortOut(desired, optedIn)
  const { candidates: winners, problems: collisions } = settleCollisions(candidates)
  const problems = [...refusals, ...collisions]
  const tags = new TagsByName()
  for (const { changes, key, label, value } of winners) {
    if (tags.size === tagsPerDisk) {
      problems.push(dropped('over-limit', label, `a disk holds ${tagsPerDisk} tags; this one was left out`))
      continue
    }
    tags.set(key, value)
    problems.push(...changes)
  }
  return { tags, problems }
}

/** What can be a tag, in order of its label, and why the rest cannot. */
function sortOut(desired: TagSet, optedIn: ReadonlySet<string>): Sorted {
  const candidates: Candidate[] = []
  const problems: TagProblem[] = []
  for (const [label, value] of [...desired].toSorted(([a], [b]) => compare(a, b))) {
    const candidate = candidateFor(label, value, optedIn)
    if ('kind' in candidate) problems.push(candidate)
    else candidates.push(candidate)
  }
  return { candidates, problems }
}

/** One candidate for each name, in order of the key. */
function settleCollisions(candidates: readonly Candidate[]): Sorted {
  const winners = new Map<string, Candidate>()
  const problems: TagProblem[] = []
  for (const candidate of candidates) {
    const name = foldedName(candidate.key)
    const rival = winners.get(name)
    if (rival === undefined) {
      winners.set(name, candidate)
      continue
    }
    const challengerWins = isUnchanged(candidate) && !isUnchanged(rival)
    const [winner, loser] = challengerWins ? [candidate, rival] : [rival, candidate]
    winners.set(name, winner)
    problems.push(
      dropped(
        'collision',
        loser.label,
        `to Azure it is the same tag as ${winner.label}, which it does not tell apart by case; it was left out`,
      ),
    )
  }
  return { candidates: [...winners.values()].toSorted((a, b) => compare(a.key, b.key)), problems }
}

function candidateFor(label: string, wished: string, optedIn: ReadonlySet<string>): Candidate | TagProblem {
  const key = label.replaceAll('/', ':')
  if (isProtectedKey(key, optedIn)) {
    return dropped('protected-key', label, 'the key belongs to Azure, the CSI driver or AKS; it was left out')
  }
  if (key === '' || key.length > keyLengthMax) {
    return dropped('invalid-key', label, `a key has 1 to ${keyLengthMax} characters; it was left out`)
  }
  if (/[<>%&\\?]/.test(key) || hasForbiddenCharacter(key)) {
    return dropped('invalid-key', label, 'a key may hold no < > % & \\ ? and no control character; it was left out')
  }
  if (hasForbiddenCharacter(wished)) {
    return dropped('invalid-value', label, 'the value holds a control character; the tag was left out')
  }
  const value = cut(wished)
  const changes: TagProblem[] = []
  if (key !== label) {
    changes.push({ kind: 'changed-key', label, tag: key, message: 'Azure forbids / in a key; it became :' })
  }
  if (value !== wished) {
    const message = `the value has more than ${valueLengthMax} characters; it was cut`
    changes.push({ kind: 'changed-value', label, tag: key, message })
  }
  return { label, key, value, changes }
}

function isUnchanged({ key, label }: Candidate): boolean {
  return key === label
}

/** Never leaves half of a surrogate pair. */
function cut(value: string): string {
  if (value.length <= valueLengthMax) return value
  const head = value.slice(0, valueLengthMax)
  return head.isWellFormed() ? head : head.slice(0, -1)
}

/** Control characters and halves of a surrogate pair. */
function hasForbiddenCharacter(text: string): boolean {
  return !text.isWellFormed() || /\p{Cc}/u.test(text)
}

function dropped(kind: TagProblemKind, label: string, message: string): TagProblem {
  return { kind, label, tag: undefined, message }
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
