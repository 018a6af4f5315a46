import { firstBytes, firstCodePoints, firstUnits } from '../../tags/cuts.ts'
import { goHabit, leavingOutRestricted, rustHabit, withoutReserved } from '../../tags/earlier-tools.ts'
import { normalizedTags } from '../../tags/normalized-tags.ts'
import type { NormalizedTags, NormalizeOptions, TagShape } from '../../tags/normalized-tags.ts'
import { ownForm } from '../../tags/tag-form.ts'
import type { TagForm } from '../../tags/tag-form.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import { isAllowed, isProtectedKey } from './protected-keys.ts'
import { TagsByName, foldedName } from './tag-names.ts'

export const tagsPerDisk = 50

const keyLengthMax = 512
const valueLengthMax = 256

const keyTooLong = `a key has at most ${keyLengthMax} characters`
const valueTooLong = `a value has at most ${valueLengthMax} characters`
const forbids = String.raw`Azure forbids <>%&\?/`

/**
 * The form that Azure takes. Values stay as they are; of keys only what Azure forbids changes. In ours:
 *
 * - `/` becomes `:`, which no label key can hold, so that no two labels meet by it;
 * - a value of more than 256 characters is cut;
 * - other forbidden characters (`< > % & \ ?`) and keys of more than 512 characters are left out.
 *
 * In every form protected keys and control characters are left out, and names that differ only in case are one, as they
 * are to Azure. Where labels meet so, the one that needed no change wins, then the first in order of its key, in its own
 * case; the others are reported. Of more than 50 tags the first 50 stay: this limits our own number only.
 *
 * Azure's lengths are counted in UTF-16 units, as .NET does. The tags are found in any case (`TagsByName`).
 */
export function normalize(
  desired: TagSet,
  { form = ownForm, enforced = new Set() }: NormalizeOptions = {},
): NormalizedTags {
  const rules = {
    tagsPerDisk,
    owners: 'Azure, the CSI driver or AKS',
    isProtected: (key: string) => isProtectedKey(key, form.allowedKeys),
    keyFault,
    valueFault,
    canonicalKey: foldedName,
  }
  const { problems, tags } = normalizedTags(desired, { rules, shape: shapeOf(form), enforced })
  return { tags: new TagsByName(tags), problems }
}

function shapeOf({ compatibility, allowedKeys }: TagForm): TagShape {
  switch (compatibility) {
    case 'none':
      return ownShape
    case 'rust-0.4':
      return rustShape
    case 'k8s-pvc-tagger':
      return leavingOutRestricted(goShape, (key) => isAllowed(key, allowedKeys))
    default:
      return compatibility satisfies never
  }
}

const ownShape: TagShape = {
  key: (label) => label.replaceAll('/', ':'),
  value: (value) => firstUnits(value, valueLengthMax),
}

/** Lengths count code points. */
const rustShape: TagShape = {
  key: (label) => firstCodePoints(withoutReserved(label, '-'), keyLengthMax),
  value: (value) => firstCodePoints(value, valueLengthMax),
  habit: rustHabit,
  winner: 'last',
}

/**
 * Lengths count bytes. A value that is too long, and two labels that became one key, cost the whole write: here only the
 * one tag, and of two labels the winner is that of our own form.
 */
const goShape: TagShape = {
  key: (label) => firstBytes(withoutReserved(label, '_'), keyLengthMax) ?? { kind: 'invalid-key', why: keyTooLong },
  value: (value) => (Buffer.byteLength(value) > valueLengthMax ? { kind: 'invalid-value', why: valueTooLong } : value),
  habit: goHabit,
}

function keyFault(key: string): string | undefined {
  if (key === '') return 'a key needs a character'
  if (key.length > keyLengthMax) return keyTooLong
  if (/[<>%&\\?/]/.test(key)) return forbids
  return hasForbiddenCharacter(key) ? 'a key may hold no control character' : undefined
}

function valueFault(value: string): string | undefined {
  if (value.length > valueLengthMax) return valueTooLong
  return hasForbiddenCharacter(value) ? 'a value may hold no control character' : undefined
}

/** Control characters and halves of a surrogate pair. */
function hasForbiddenCharacter(text: string): boolean {
  return !text.isWellFormed() || /\p{Cc}/u.test(text)
}
