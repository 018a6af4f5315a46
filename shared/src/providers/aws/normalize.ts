import { createHash } from 'node:crypto'
import type { TagProblem, TagProblemKind, TagSet } from '../../tags/tag-set.ts'
import { isProtectedKey, isReserved } from './protected-keys.ts'

/** AWS's own `aws:…` tags are not counted. */
export const tagsPerDisk = 50

const keyLengthMax = 128
const valueLengthMax = 256
const hashLength = 10
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

interface Candidate {
  readonly label: string
  readonly key: string
  readonly value: string
  readonly changes: readonly TagProblem[]
}

/**
 * The form that EC2 takes: labels as they are, so that people find their own keys. Only what cannot be written differs:
 *
 * - a key of more than 128 characters becomes its first 117, `~`, and 10 characters of a hash of the whole key;
 * - a value of more than 256 characters is cut;
 * - protected keys, control characters and values that begin with `aws:` are left out.
 *
 * Where two labels meet in one tag, the one that needed no change wins, then the first in order of its key. Of more than
 * 50 tags the first 50 in order of the tag's key stay: this limits our own number only; tags of others that are already
 * on the disk take their room when a change is planned.
 *
 * Lengths are counted in code points.
 */
export function normalize(
  desired: TagSet,
  optedIn: ReadonlySet<string> = new Set(),
): { readonly tags: TagSet; readonly problems: readonly TagProblem[] } {
  const problems: TagProblem[] = []
  const winners = new Map<string, Candidate>()
  for (const [label, value] of [...desired].toSorted(([a], [b]) => compare(a, b))) {
    const candidate = candidateFor(label, value, optedIn)
    if ('kind' in candidate) {
      problems.push(candidate)
      continue
    }
    const rival = winners.get(candidate.key)
    if (rival === undefined) {
      winners.set(candidate.key, candidate)
      continue
    }
    const [winner, loser] = candidate.label === candidate.key ? [candidate, rival] : [rival, candidate]
    winners.set(winner.key, winner)
    problems.push(dropped('collision', loser.label, `it would become the same tag as ${winner.label}; it was left out`))
  }
  const inOrder = [...winners.values()].toSorted((a, b) => compare(a.key, b.key))
  const tags = new Map<string, string>()
  for (const { changes, key, label, value } of inOrder) {
    if (tags.size === tagsPerDisk) {
      problems.push(dropped('over-limit', label, `a disk holds ${tagsPerDisk} tags; this one was left out`))
      continue
    }
    tags.set(key, value)
    problems.push(...changes)
  }
  return { tags, problems }
}

function candidateFor(label: string, wished: string, optedIn: ReadonlySet<string>): Candidate | TagProblem {
  if (isProtectedKey(label, optedIn)) {
    return dropped('protected-key', label, 'the key belongs to AWS, the CSI driver or the cluster; it was left out')
  }
  if (label === '' || hasForbiddenCharacter(label)) {
    return dropped('invalid-key', label, 'a key needs a character and may hold no control character; it was left out')
  }
  if (hasForbiddenCharacter(wished)) {
    return dropped('invalid-value', label, 'the value holds a control character; the tag was left out')
  }
  if (isReserved(wished)) {
    return dropped('invalid-value', label, 'the value begins with "aws:", which AWS keeps for itself; it was left out')
  }
  const key = shortKey(label)
  const value = firstCodePoints(wished, valueLengthMax)
  const changes: TagProblem[] = []
  if (key !== label) {
    const message = `the key has more than ${keyLengthMax} characters; it was shortened`
    changes.push({ kind: 'changed-key', label, tag: key, message })
  }
  if (value !== wished) {
    const message = `the value has more than ${valueLengthMax} characters; it was cut`
    changes.push({ kind: 'changed-value', label, tag: key, message })
  }
  return { label, key, value, changes }
}

/** `~` cannot occur in a label's key, so that a shortened key meets no other. */
function shortKey(key: string): string {
  if (firstCodePoints(key, keyLengthMax) === key) return key
  return `${firstCodePoints(key, keyLengthMax - 1 - hashLength)}~${base32Hash(key)}`
}

/** The first bits of SHA-256, five to a character (RFC 4648, lower case). */
function base32Hash(text: string): string {
  const digest = createHash('sha256').update(text, 'utf8').digest()
  let bits = digest.readBigUInt64BE(0)
  let hash = ''
  for (let i = 0; i < hashLength; i++) {
    hash += base32[Number(bits >> 59n)]
    bits = BigInt.asUintN(64, bits << 5n)
  }
  return hash
}

function firstCodePoints(text: string, count: number): string {
  // A code point is one or two UTF-16 units.
  return text.length <= count ? text : Array.from(text).slice(0, count).join('')
}

/** Control characters, halves of a surrogate pair, and the two non-characters that XML cannot carry. */
function hasForbiddenCharacter(text: string): boolean {
  return !text.isWellFormed() || /[\p{Cc}\uFFFE\uFFFF]/u.test(text)
}

function dropped(kind: TagProblemKind, label: string, message: string): TagProblem {
  return { kind, label, tag: undefined, message }
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
