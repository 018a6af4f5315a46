import { compareKeys } from './compare-keys.ts'
import { messageNaming } from './problem-message.ts'
import type { TagForm } from './tag-form.ts'
import type { TagProblem, TagProblemKind, TagSet } from './tag-set.ts'

export interface NormalizeOptions {
  /** Our own, with no protected key allowed, where it is missing. */
  readonly form?: TagForm | undefined
  /** Keys of the wish that win every clash and are the last that a full disk leaves out. */
  readonly enforced?: ReadonlySet<string> | undefined
}

export interface NormalizedTags {
  /** Enforced ones first, then in order of the key. */
  readonly tags: TagSet
  readonly problems: readonly TagProblem[]
}

/** How labels become tags. Pure, and leaves what it made itself as it is. */
export interface TagShape {
  readonly key: (label: string) => string | Refusal
  readonly value: (value: string) => string | Refusal
  /** Why a key or value is changed that the cloud would take as it is. */
  readonly habit?: string
  /** Which of the labels that become one and the same key has it. The label that needed no change, by default. */
  readonly winner?: 'unchanged-then-first' | 'last'
  /** Another key for a label whose key another label has. Without it the label is left out. */
  readonly spareKey?: (key: string, label: string) => string
}

/** Why there is no tag. */
export interface Refusal {
  readonly kind: TagProblemKind
  readonly why: string
}

/** What a cloud takes, in whatever shape the tags are. */
export interface CloudRules {
  readonly tagsPerDisk: number
  /** Whose the protected keys are, for people. */
  readonly owners: string
  readonly isProtected: (key: string) => boolean
  /** Why the cloud would refuse the whole write because of this; undefined where it takes it. */
  readonly keyFault: (key: string) => string | undefined
  readonly valueFault: (value: string) => string | undefined
  /** Equal for keys that the cloud takes for one. The key itself, by default. */
  readonly canonicalKey?: (key: string) => string
}

interface Candidate {
  readonly label: string
  readonly wished: string
  readonly enforced: boolean
  readonly key: string
  readonly value: string
  /** Its own key is another label's. */
  readonly spared: boolean
}

interface Wish {
  readonly rules: CloudRules
  readonly shape: TagShape
  readonly enforced: ReadonlySet<string>
  readonly problems: TagProblem[]
}

/** Every wished label is among the tags or among the problems, and the order of the wish means nothing. */
export function normalizedTags(desired: TagSet, wish: Omit<Wish, 'problems'>): NormalizedTags {
  const problems: TagProblem[] = []
  const winners = settle(candidates(desired, { ...wish, problems }), { ...wish, problems })
  const tags = new Map<string, string>()
  for (const winner of winners.toSorted((a, b) => enforcedFirst(a, b) || compareKeys(a.key, b.key))) {
    if (tags.size === wish.rules.tagsPerDisk) {
      problems.push(dropped('over-limit', winner.label, `a disk holds ${wish.rules.tagsPerDisk} tags; it was left out`))
      continue
    }
    tags.set(winner.key, winner.value)
    problems.push(...changesOf(winner, wish))
  }
  return { tags, problems }
}

/** What can be a tag, in order of its label. */
function candidates(desired: TagSet, { rules, shape, enforced, problems }: Wish): readonly Candidate[] {
  const found: Candidate[] = []
  for (const [label, wished] of [...desired].toSorted(([a], [b]) => compareKeys(a, b))) {
    const key = checkedKey(shape.key(label), rules)
    const value = checkedValue(shape.value(wished), rules)
    if (typeof key === 'string' && typeof value === 'string') {
      found.push({ label, wished, enforced: enforced.has(label), key, value, spared: false })
      continue
    }
    for (const refusal of [key, value]) {
      if (typeof refusal === 'string') continue
      problems.push(dropped(refusal.kind, label, `${refusal.why}; it was left out`))
      break
    }
  }
  return found
}

function checkedKey(key: string | Refusal, { isProtected, keyFault, owners }: CloudRules): string | Refusal {
  if (typeof key !== 'string') return key
  if (isProtected(key)) return { kind: 'protected-key', why: `the key belongs to ${owners}` }
  const why = keyFault(key)
  return why === undefined ? key : { kind: 'invalid-key', why }
}

function checkedValue(value: string | Refusal, { valueFault }: CloudRules): string | Refusal {
  const why = typeof value === 'string' ? valueFault(value) : undefined
  return why === undefined ? value : { kind: 'invalid-value', why }
}

/**
 * One candidate for each tag. Labels that become one key are settled as the shape says. Keys that only the cloud takes
 * for one (Azure: other case) are settled as ours in every shape: no earlier tool has an answer, both were sent.
 */
function settle(all: readonly Candidate[], { rules, shape, problems }: Wish): readonly Candidate[] {
  const { winner = 'unchanged-then-first', spareKey } = shape
  const byKey = onePerKey(all.toSorted(precedences[winner]), { keyOf: ({ key }) => key, spareKey, problems })
  const { canonicalKey } = rules
  if (canonicalKey === undefined) return byKey
  return onePerKey(byKey.toSorted(precedences['unchanged-then-first']), {
    keyOf: ({ key }) => canonicalKey(key),
    problems,
  })
}

/** The first of those that share a key. */
function onePerKey(
  inOrder: readonly Candidate[],
  {
    keyOf,
    spareKey,
    problems,
  }: {
    readonly keyOf: (candidate: Candidate) => string
    readonly spareKey?: TagShape['spareKey']
    readonly problems: TagProblem[]
  },
): readonly Candidate[] {
  const winners = new Map<string, Candidate>()
  for (const candidate of inOrder) {
    const rival = winners.get(keyOf(candidate))
    const spared = rival && spareKey && { ...candidate, key: spareKey(candidate.key, candidate.label), spared: true }
    if (rival === undefined) winners.set(keyOf(candidate), candidate)
    else if (spared !== undefined && !winners.has(keyOf(spared))) winners.set(keyOf(spared), spared)
    else {
      const message = messageNaming('the same tag as ', rival.label, '; it was left out')
      problems.push(dropped('collision', candidate.label, message))
    }
  }
  return [...winners.values()]
}

const precedences: Readonly<Record<'unchanged-then-first' | 'last', (a: Candidate, b: Candidate) => number>> = {
  'unchanged-then-first': (a, b) =>
    enforcedFirst(a, b) || Number(isChanged(a)) - Number(isChanged(b)) || compareKeys(a.label, b.label),
  last: (a, b) => enforcedFirst(a, b) || compareKeys(b.label, a.label),
}

function enforcedFirst(a: Candidate, b: Candidate): number {
  return Number(b.enforced) - Number(a.enforced)
}

function isChanged({ key, label }: Candidate): boolean {
  return key !== label
}

/** The reason is what the cloud would have said to the label as it is. */
function* changesOf(candidate: Candidate, { rules, shape }: Omit<Wish, 'problems'>): Iterable<TagProblem> {
  const { key: tag, label, spared, value, wished } = candidate
  const { habit = 'it does not fit' } = shape
  if (isChanged(candidate)) {
    const why = spared ? 'key is taken' : (rules.keyFault(label) ?? habit)
    yield { kind: 'changed-key', label, tag, message: messageNaming(`${why}; it became `, tag) }
  }
  if (value !== wished) {
    const why = rules.valueFault(wished) ?? habit
    yield { kind: 'changed-value', label, tag, message: messageNaming(`${why}; the value became `, value) }
  }
}

function dropped(kind: TagProblemKind, label: string, message: string): TagProblem {
  return { kind, label, tag: undefined, message }
}
