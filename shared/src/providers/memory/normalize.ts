import { firstCodePoints } from '../../tags/cuts.ts'
import { normalizedTags } from '../../tags/normalized-tags.ts'
import type { NormalizedTags, NormalizeOptions, TagShape } from '../../tags/normalized-tags.ts'
import { ownForm } from '../../tags/tag-form.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import { isProtectedKey } from './protected-keys.ts'

export const tagsPerDisk = 50

// Room for every label key (253 + 1 + 63), so that nothing a user tries out in memory needs another key.
const keyLengthMax = 512
const valueLengthMax = 256

/**
 * As is, but for protected keys, values that are too long, and more tags than a disk holds. The same in every
 * compatibility: the mock of 0.4 showed labels as they are, and k8s-pvc-tagger has none.
 */
export function normalize(
  desired: TagSet,
  { form = ownForm, enforced = new Set() }: NormalizeOptions = {},
): NormalizedTags {
  const rules = {
    tagsPerDisk,
    owners: 'the cluster',
    isProtected: (key: string) => isProtectedKey(key, form.allowedKeys),
    keyFault,
    valueFault: () => undefined,
  }
  return normalizedTags(desired, { rules, shape, enforced })
}

const shape: TagShape = {
  key: (label) => label,
  value: (value) => firstCodePoints(value, valueLengthMax),
  habit: `a value has at most ${valueLengthMax} characters`,
}

function keyFault(key: string): string | undefined {
  if (key === '') return 'a key needs a character'
  return firstCodePoints(key, keyLengthMax) === key ? undefined : `a key has at most ${keyLengthMax} characters`
}
