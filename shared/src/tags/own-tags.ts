export type OwnTags =
  | { readonly ok: true; readonly tags: ReadonlyMap<string, string>; readonly refused: readonly string[] }
  | { readonly ok: false; readonly problem: string }

/**
 * A claim's own tags, from its annotation: a JSON map, or `key=value,key=value` as k8s-pvc-tagger takes it. Numbers and
 * booleans count as what they look like; `refused` are the keys whose value is a list, a map or null.
 */
export function readOwnTags(text: string): OwnTags {
  const trimmed = text.trim()
  return trimmed.startsWith('{') ? fromJson(trimmed) : fromPairs(trimmed)
}

function fromJson(text: string): OwnTags {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { ok: false, problem: 'it is no valid JSON' }
  }
  const tags = new Map<string, string>()
  const refused: string[] = []
  for (const [key, value] of Object.entries(parsed as Record<string, unknown>)) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      tags.set(key, String(value))
    else refused.push(key)
  }
  return { ok: true, tags, refused }
}

function fromPairs(text: string): OwnTags {
  const tags = new Map<string, string>()
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue
    const at = pair.indexOf('=')
    if (at < 1) return { ok: false, problem: 'it is neither a JSON map nor key=value,key=value' }
    tags.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim())
  }
  return { ok: true, tags, refused: [] }
}
