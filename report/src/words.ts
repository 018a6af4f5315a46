import type { ClaimRow, ClaimState, TagReason, TagState } from './cluster-report.ts'

/** The words for people, in one place for the table and the page; JSON and CSV carry the fixed words themselves. */
export const stateWords: Readonly<Record<ClaimState, string>> = {
  tagged: 'Tagged',
  differs: 'To be written',
  partial: 'Partly tagged',
  untagged: 'No tags',
  missing: 'Disk not found',
  unread: 'Not readable',
  pending: 'No disk yet',
  skipped: 'Left alone',
}

export const stateMeanings: Readonly<Record<ClaimState, string>> = {
  tagged: 'the disk carries every tag that the claim asks for',
  differs: 'a tag has to be added, changed or removed',
  partial: 'a tag cannot be written: another value is kept, or the disk is full',
  untagged: 'no label and no rule makes a tag for this disk',
  missing: 'the cloud does not know the disk, or does not show it to these credentials',
  unread: 'something could not be read, so nothing is known',
  pending: 'the claim has no disk yet',
  skipped: 'not a disk of this cloud, or out of scope',
}

export const tagWords: Readonly<Record<TagState, string>> = {
  'in-place': 'in place',
  add: 'add',
  change: 'change',
  remove: 'remove',
  stays: 'stays',
  blocked: 'not written',
  unknown: 'not known',
}

export const tagReasonWords: Readonly<Record<TagReason, string>> = {
  'removal-off': 'removals are switched off',
  brake: 'removals are stopped by the brake',
  'unreadable-tags': 'an annotation with tags cannot be read',
  'there-before': 'it was there before us',
  'kept-for-others': "somebody else's value is kept",
  'disk-full': 'the disk holds no more tags',
}

const kindWords: Readonly<Record<string, string>> = {
  'protected-key': 'Protected key',
  'invalid-key': 'Key not possible',
  'invalid-value': 'Value not possible',
  'changed-key': 'Key changed to fit',
  'changed-value': 'Value changed to fit',
  collision: 'Two labels, one tag',
  'over-limit': 'Too many tags',
  'denied-value': 'Value on the deny list',
  enforced: 'Enforced tag',
  'invalid-annotation': 'Annotation not readable',
  'invalid-template': 'Template without a value',
  'unreadable-record': 'Record not readable',
  'foreign-record': 'Record of another disk',
  'kept-for-others': "Somebody else's value kept",
  'disk-full': 'Disk full',
  brake: 'Removals stopped by the brake',
  'unreadable-tags': 'Removals held: annotation not readable',
  'disk-not-found': 'Disk not found',
  denied: 'Access denied',
  throttled: 'Cloud too busy',
  unavailable: 'Cloud not reached',
  conflict: 'Cloud conflict',
  invalid: 'Refused by the cloud',
  'volume-unreadable': 'Volume not readable',
  'namespace-unreadable': 'Namespace not readable',
  'malformed-handle': 'Not an id of a disk',
  'volume-of-another-claim': "Somebody else's volume",
  'disk-of-another-volume': 'Disk shared with an older volume',
  'claim-deleting': 'Claim is being deleted',
  'unsupported-volume': 'Not a disk of this cloud',
  'out-of-scope': 'Out of scope',
  'opted-out': 'Opted out',
  'claim-unbound': 'Claim not bound',
  'volume-not-found': 'Volume not there yet',
  'volume-unclaimed': 'Volume not bound yet',
  'namespace-not-found': 'Namespace not there',
}

/** A kind that a later version wrote is shown as it is. */
export function kindWord(kind: string): string {
  return Object.hasOwn(kindWords, kind) ? (kindWords[kind] ?? kind) : kind
}

/** Reasons for which somebody has to do something; the others are as they should be. */
const reasonsToAct: ReadonlySet<string> = new Set([
  'malformed-handle',
  'volume-of-another-claim',
  'disk-of-another-volume',
  'namespace-not-found',
])

/** What is wrong with a claim, each kind once. */
export function problemKindsOf({ state, reason, tags, problems }: ClaimRow): ReadonlySet<string> {
  const kinds = new Set(problems.map(({ kind }) => kind))
  for (const tag of tags) {
    if (tag.state === 'blocked' && tag.reason !== undefined) kinds.add(tag.reason)
    if (tag.reason === 'brake' || tag.reason === 'unreadable-tags') kinds.add(tag.reason)
  }
  const acts = state === 'missing' || state === 'unread' || (reason !== undefined && reasonsToAct.has(reason))
  if (acts && reason !== undefined) kinds.add(reason)
  return kinds
}

/** Rounded down, so that 100 % means all. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–'
  if (part === 0 || part === whole) return part === 0 ? '0 %' : '100 %'
  return `${(Math.floor((part * 1000) / whole) / 10).toFixed(1)} %`
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`
}

/** 12,345 as people read it; the same everywhere, whatever the locale. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
