import { normalizedTags } from '../../tags/normalized-tags.ts'
import type { NormalizedTags, NormalizeOptions } from '../../tags/normalized-tags.ts'
import { ownForm } from '../../tags/tag-form.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import { keyFault, labelShapeOf, valueFault } from './label-form.ts'
import { isProtectedKey } from './protected-keys.ts'

/** Google's limit for every resource, its own labels included. */
export const tagsPerDisk = 64

/**
 * The form that Google takes: keys and values in lower case, of letters, digits, `_` and `-`, at most 63 characters.
 *
 * In ours any other character becomes `_`; a key that does not begin with a letter gets `l_` before it; what is too long
 * is cut. Where two labels meet in one key, the one that needed no change keeps it, else the first in order of the
 * label's key. The other's key ends in `_` and 8 characters of a hash of its label.
 *
 * In every form protected keys and empty ones are left out. Of more than 64 tags the first 64 stay: this limits our own
 * number only; labels of others that are on the disk take their room when a change is planned.
 */
export function normalize(
  desired: TagSet,
  { form = ownForm, enforced = new Set() }: NormalizeOptions = {},
): NormalizedTags {
  const rules = {
    tagsPerDisk,
    owners: 'Google, the CSI driver or the cluster',
    isProtected: (key: string) => isProtectedKey(key, form.allowedKeys),
    keyFault,
    valueFault,
  }
  return normalizedTags(desired, { rules, shape: labelShapeOf(form), enforced })
}
