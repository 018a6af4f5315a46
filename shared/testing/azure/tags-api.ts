import { ArmFault } from './arm-fault.ts'
import { spellingOf, type Disk, type DiskStore, type DiskTags } from './disk-store.ts'
import { checkTag, tagsPerResource } from './tag-rules.ts'

export type PatchOperation = 'Merge' | 'Delete' | 'Replace'
const operations: ReadonlySet<string> = new Set(['Merge', 'Delete', 'Replace'])

export interface TagsPatch {
  readonly operation: PatchOperation
  readonly tags: DiskTags
}

/** Throws what ARM answers to a body that it does not understand. */
export function parsePatch(body: string): TagsPatch {
  const { operation, properties } = parsed(body)
  const tags = (properties as { tags?: unknown } | undefined)?.tags
  if (typeof operation !== 'string' || !operations.has(operation)) {
    throw new ArmFault(400, 'InvalidRequestContent', 'The operation must be Merge, Delete or Replace.')
  }
  if (typeof tags !== 'object' || tags === null) {
    throw new ArmFault(400, 'InvalidRequestContent', 'The request has no properties.tags.')
  }
  const entries = Object.entries(tags)
  if (entries.some(([, value]) => typeof value !== 'string')) {
    throw new ArmFault(400, 'InvalidRequestContent', 'A tag has a value that is no string.')
  }
  return { operation: operation as PatchOperation, tags: new Map(entries as [string, string][]) }
}

/**
 * What the disk will hold, worked out from what ARM sees of it now, which may lag behind an earlier write. Names keep
 * the case in which they were first written.
 */
export function patched(store: DiskStore, disk: Disk, { operation, tags }: TagsPatch): DiskTags {
  const result = new Map(operation === 'Replace' ? [] : store.readTags(disk))
  for (const [name, value] of tags) {
    const spelling = spellingOf(result, name) ?? name
    if (operation === 'Delete') {
      // By name alone where no value is given, else only where the value is that.
      if (value === '' || result.get(spelling) === value) result.delete(spelling)
      continue
    }
    checkTag(name, value)
    result.set(spelling, value)
  }
  if (operation !== 'Delete' && result.size > tagsPerResource) {
    throw new ArmFault(400, 'TooManyTags', `A resource can hold ${tagsPerResource} tags, not ${result.size}.`)
  }
  return result
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>
  } catch {
    // Told below, as for any body that is no object.
  }
  throw new ArmFault(400, 'InvalidRequestContent', 'The request content was invalid and could not be deserialized.')
}
