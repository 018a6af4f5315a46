import { isJsonObject, type JsonObject } from './objects.ts'

/** RFC 7386: null removes, objects merge, everything else replaces. */
export function applyMergePatch(document: JsonObject, patch: JsonObject): JsonObject {
  const merged = { ...document }
  for (const [key, value] of Object.entries(patch)) {
    const present = merged[key]
    if (value === null) delete merged[key]
    else if (isJsonObject(value)) merged[key] = applyMergePatch(isJsonObject(present) ? present : {}, value)
    else merged[key] = value
  }
  return merged
}

/**
 * A strategic merge patch taken as a merge patch, without its `$` directives. The same for everything below `metadata`
 * but finalizers and owner references; lists elsewhere are replaced instead of merged by key.
 */
export function withoutDirectives(patch: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(patch)
      .filter(([key]) => !key.startsWith('$'))
      .map(([key, value]) => [key, isJsonObject(value) ? withoutDirectives(value) : value]),
  )
}
