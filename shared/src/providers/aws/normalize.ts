import { createHash } from 'node:crypto'
import { base32Head } from '../../tags/base32.ts'
import { firstCodePoints } from '../../tags/cuts.ts'
import { leavingOutRestricted, rustHabit, withoutReserved } from '../../tags/earlier-tools.ts'
import { normalizedTags } from '../../tags/normalized-tags.ts'
import type { NormalizedTags, NormalizeOptions, TagShape } from '../../tags/normalized-tags.ts'
import { ownForm } from '../../tags/tag-form.ts'
import type { TagForm } from '../../tags/tag-form.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import { isProtectedKey, isReserved } from './protected-keys.ts'

/** AWS's own `aws:…` tags are not counted. */
export const tagsPerDisk = 50

const keyLengthMax = 128
const valueLengthMax = 256
const hashLength = 10

const keyTooLong = `a key has at most ${keyLengthMax} characters`
const valueTooLong = `a value has at most ${valueLengthMax} characters`

/**
 * The form that EC2 takes. Ours is the labels as they are, so that people find their own keys; only what cannot be
 * written differs:
 *
 * - a key of more than 128 characters becomes its first 117, `~`, and 10 characters of a hash of the whole key;
 * - a value of more than 256 characters is cut.
 *
 * In every form protected keys, control characters and values that begin with `aws:` are left out. Of more than 50 tags
 * the first 50 stay: this limits our own number only; tags of others that are already on the disk take their room when a
 * change is planned.
 *
 * Lengths are counted in code points.
 */
export function normalize(
  desired: TagSet,
  { form = ownForm, enforced = new Set() }: NormalizeOptions = {},
): NormalizedTags {
  const { allowedKeys } = form
  const rules = {
    tagsPerDisk,
    owners: 'AWS, the CSI driver or the cluster',
    isProtected: (key: string) => isProtectedKey(key, allowedKeys),
    keyFault,
    valueFault,
  }
  return normalizedTags(desired, { rules, shape: shapeOf(form), enforced })
}

function shapeOf({ compatibility, allowedKeys }: TagForm): TagShape {
  switch (compatibility) {
    case 'none':
      return ownShape
    case 'rust-0.4':
      return rustShape
    case 'k8s-pvc-tagger':
      return leavingOutRestricted(goShape, (key) => allowedKeys.has(key))
    default:
      return compatibility satisfies never
  }
}

const ownShape: TagShape = {
  key: shortKey,
  value: (value) => firstCodePoints(value, valueLengthMax),
}

/** Seven characters that EC2 would take became `-`, in values too; what is too long is cut without a trace. */
const rustShape: TagShape = {
  key: (label) => firstCodePoints(withoutReserved(label, '-'), keyLengthMax),
  value: (value) => firstCodePoints(withoutReserved(value, '-'), valueLengthMax),
  habit: rustHabit,
  winner: 'last',
}

/** It changes nothing: what EC2 refuses, such as a key that is too long, never arrived. */
const goShape: TagShape = {
  key: (label) => label,
  value: (value) => value,
}

/** `~` cannot occur in a label's key, so that a shortened key meets no other. */
function shortKey(key: string): string {
  if (firstCodePoints(key, keyLengthMax) === key) return key
  const digest = createHash('sha256').update(key, 'utf8').digest()
  return `${firstCodePoints(key, keyLengthMax - 1 - hashLength)}~${base32Head(digest, hashLength)}`
}

function keyFault(key: string): string | undefined {
  if (key === '') return 'a key needs a character'
  if (hasForbiddenCharacter(key)) return 'a key may hold no control character'
  return firstCodePoints(key, keyLengthMax) === key ? undefined : keyTooLong
}

function valueFault(value: string): string | undefined {
  if (hasForbiddenCharacter(value)) return 'a value may hold no control character'
  if (isReserved(value)) return 'AWS keeps values that begin with "aws:" for itself'
  return firstCodePoints(value, valueLengthMax) === value ? undefined : valueTooLong
}

/** Control characters, halves of a surrogate pair, and the two non-characters that XML cannot carry. */
function hasForbiddenCharacter(text: string): boolean {
  return !text.isWellFormed() || /[\p{Cc}\uFFFE\uFFFF]/u.test(text)
}
