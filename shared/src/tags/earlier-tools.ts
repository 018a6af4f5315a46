import type { TagShape } from './normalized-tags.ts'

/** Why a key or a value is what no cloud asks it to be. */
export const rustHabit = '0.4 wrote it so'
export const goHabit = 'k8s-pvc-tagger wrote it so'

/** The characters that both earlier tools take out of keys on Azure, and the Rust tool on AWS too. */
export function withoutReserved(text: string, replacement: '-' | '_'): string {
  return text.replaceAll(/[<>%&\\?/]/g, replacement)
}

/**
 * Keys that k8s-pvc-tagger wrote only with `--allow-all-tags`: on every cloud and in any case, looked at as they come.
 * They can be allowed here one by one, as tags. Looked at as tags too, where that tool did not look, so that what is left
 * out stays out when it is normalised again: on Google `name-` becomes `name`. No label ends so.
 */
export function leavingOutRestricted(shape: TagShape, isAllowed: (key: string) => boolean): TagShape {
  return {
    ...shape,
    key(label) {
      const key = shape.key(label)
      if (typeof key !== 'string' || isAllowed(key) || !(isRestricted(label) || isRestricted(key))) return key
      return { kind: 'protected-key', why: 'k8s-pvc-tagger did not write this key' }
    },
  }
}

function isRestricted(label: string): boolean {
  const name = label.toLowerCase()
  return name === 'name' || name === 'kubernetescluster' || name.startsWith('kubernetes.io')
}
