import type { TagProblem, TagProblemKind, TagSet } from '../../tags/tag-set.ts'
import { hashedKey, readableForm, type LabelForm } from './label-form.ts'
import { isProtectedKey } from './protected-keys.ts'

/** Google's limit for every resource, its own labels included. */
export const tagsPerDisk = 64

export interface NormalizeOptions {
  /** Protected keys that the user wants to write all the same. */
  readonly optedIn?: ReadonlySet<string> | undefined
  /** Where the keys of an earlier tool are to be kept. */
  readonly form?: LabelForm | undefined
}

interface Candidate {
  readonly label: string
  readonly key: string
  readonly value: string
  readonly changes: readonly TagProblem[]
}

/**
 * The form that Google takes: keys and values in lower case, of letters, digits, `_` and `-`, at most 63 characters.
 *
 * - Any other character becomes `_`; a key that does not begin with a letter gets `l_` before it; what is too long is cut.
 * - Where two labels meet in one key, the one that needed no change keeps it, else the first in order of the label's
 *   key. The other's key ends in `_` and 8 characters of a hash of its label.
 * - Protected keys and empty ones are left out. Of more than 64 tags the first 64 in order of the tag's key stay: this
 *   limits our own number only; labels of others that are on the disk take their room when a change is planned.
 */
export function normalize(
  desired: TagSet,
  options: NormalizeOptions = {},
): { readonly tags: TagSet; readonly problems: readonly TagProblem[] } {
  const problems: TagProblem[] = []
  const winners = new Map<string, Candidate>()
  for (const [label, value] of inOrderOfPrecedence(desired, options.form ?? readableForm)) {
    const candidate = candidateFor(label, value, { ...options, isTaken: (key) => winners.has(key) })
    if ('kind' in candidate) problems.push(candidate)
    else winners.set(candidate.key, candidate)
  }
  const tags = new Map<string, string>()
  for (const { changes, key, label, value } of [...winners.values()].toSorted((a, b) => compare(a.key, b.key))) {
    if (tags.size === tagsPerDisk) {
      problems.push(dropped('over-limit', label, `a disk holds ${tagsPerDisk} labels; this one was left out`))
      continue
    }
    tags.set(key, value)
    problems.push(...changes)
  }
  return { tags, problems }
}

/** Labels whose keys need no change first, and otherwise in order of their keys. */
function inOrderOfPrecedence(desired: TagSet, form: LabelForm): readonly (readonly [string, string])[] {
  const changed = (label: string) => Number(form.key(label) !== label)
  return [...desired].toSorted(([a], [b]) => changed(a) - changed(b) || compare(a, b))
}

function candidateFor(
  label: string,
  wished: string,
  options: NormalizeOptions & { readonly isTaken: (key: string) => boolean },
): Candidate | TagProblem {
  const { form = readableForm, isTaken, optedIn } = options
  if (label === '') return dropped('invalid-key', label, 'a key needs a character; the label was left out')
  const plainKey = form.key(label)
  const key = isTaken(plainKey) ? hashedKey(plainKey, label) : plainKey
  if (isTaken(key)) return dropped('collision', label, 'it would become the same label as another; it was left out')
  if (isProtectedKey(key, optedIn)) {
    return dropped('protected-key', label, 'the key belongs to Google, the CSI driver or the cluster; it was left out')
  }
  const value = form.value(wished)
  const changes: TagProblem[] = []
  if (key !== label) {
    const message = key === plainKey ? keyWasChanged : `another label becomes ${plainKey} too; this one got a suffix`
    changes.push({ kind: 'changed-key', label, tag: key, message })
  }
  if (value !== wished) changes.push({ kind: 'changed-value', label, tag: key, message: valueWasChanged })
  return { label, key, value, changes }
}

const keyWasChanged = 'Google takes at most 63 lower-case letters, digits, _ and - as a key; it was made to fit'
const valueWasChanged = 'Google takes at most 63 lower-case letters, digits, _ and - as a value; it was made to fit'

function dropped(kind: TagProblemKind, label: string, message: string): TagProblem {
  return { kind, label, tag: undefined, message }
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
