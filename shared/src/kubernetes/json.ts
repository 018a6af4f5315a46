/** Reading JSON that somebody else wrote: every step answers undefined instead of throwing. */
export type JsonObject = Readonly<Record<string, unknown>>

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

export function objectAt(parent: JsonObject | undefined, key: string): JsonObject | undefined {
  return parent === undefined || !Object.hasOwn(parent, key) ? undefined : asObject(parent[key])
}

/** A string that is there and not empty. Go's JSON leaves empty strings out, so both mean the same. */
export function stringAt(parent: JsonObject | undefined, key: string): string | undefined {
  if (parent === undefined || !Object.hasOwn(parent, key)) return undefined
  const value = parent[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function numberAt(parent: JsonObject | undefined, key: string): number | undefined {
  const value = parent?.[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

export function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}
