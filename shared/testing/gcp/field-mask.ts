// Partial answers: `items(name,labels),nextPageToken` as the `fields` parameter or the X-Goog-FieldMask header say it.

/** What to keep; undefined keeps everything below. */
export interface Mask {
  readonly [field: string]: Mask | undefined
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export function applyMask(value: Json, fields: string | undefined): Json {
  return fields === undefined || fields === '*' ? value : keep(value, parseMask(fields))
}

function keep(value: Json, mask: Mask | undefined): Json {
  if (mask === undefined || value === null || typeof value !== 'object') return value
  if (isList(value)) return value.map((item) => keep(item, mask))
  const kept: Record<string, Json> = {}
  for (const [key, inner] of Object.entries(value)) {
    const named = Object.hasOwn(mask, key) ? key : '*'
    if (Object.hasOwn(mask, named)) kept[key] = keep(inner, mask[named])
  }
  return kept
}

function isList(value: readonly Json[] | { readonly [key: string]: Json }): value is readonly Json[] {
  return Array.isArray(value)
}

export function parseMask(fields: string): Mask {
  const mask: Record<string, Mask | undefined> = {}
  for (const field of splitOutside(fields, ',')) {
    const [, path = '', inner] = /^([^(]*)(?:\((.*)\))?$/s.exec(field.trim()) ?? []
    const [first = '', ...rest] = path.split(/[./]/)
    const below = [rest.join('/'), inner === undefined ? '' : `(${inner})`].join('')
    const innerMask = below === '' ? undefined : parseMask(below.replace(/^\((.*)\)$/s, '$1'))
    mask[first] = Object.hasOwn(mask, first) && innerMask !== undefined ? { ...mask[first], ...innerMask } : innerMask
  }
  return mask
}

/** Splits at the separator, but not inside parentheses. */
function splitOutside(text: string, separator: string): string[] {
  const parts = ['']
  let depth = 0
  for (const char of text) {
    if (char === '(') depth++
    if (char === ')') depth--
    if (char === separator && depth === 0) parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts
}
