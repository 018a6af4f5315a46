import { durationPattern } from '../runtime/duration.ts'

/** The few shapes that the config is made of. A description is what a user reads in `docs/configuration.md`. */
export function group<P extends Readonly<Record<string, unknown>>>(properties: P) {
  return { type: 'object', additionalProperties: false, default: {}, properties } as const
}

export function duration<D extends string>(byDefault: D, description: string) {
  return { type: 'string', pattern: durationPattern, default: byDefault, description } as const
}

export function port(byDefault: number, description: string) {
  return { type: 'integer', minimum: 1, maximum: 65_535, default: byDefault, description } as const
}

export function address(description: string) {
  return {
    type: 'string',
    minLength: 1,
    default: '::',
    description: `${description} \`::\` is every address, IPv4 included.`,
  } as const
}

export function flag(byDefault: boolean, description: string) {
  return { type: 'boolean', default: byDefault, description } as const
}

export function choice<const V extends readonly string[], D extends V[number]>(
  values: V,
  byDefault: D,
  description: string,
) {
  return { type: 'string', enum: values, default: byDefault, description } as const
}

export function text(description: string, options: { readonly maxLength?: number } = {}) {
  return { type: 'string', default: '', description, ...options } as const
}

/** Keys, globs or values. */
export function list<const D extends readonly string[]>(byDefault: D, description: string) {
  return {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 512 },
    maxItems: 500,
    default: byDefault,
    description,
  } as const
}

/** From keys of the user's choice to text. */
export function textMap(description: string) {
  return {
    type: 'object',
    additionalProperties: { type: 'string', maxLength: 4096 },
    maxProperties: 200,
    default: {},
    description,
  } as const
}

/** Globs of what is taken, less globs of what is not. */
export function globs<const D extends readonly string[]>(byDefault: D, what: string) {
  return group({
    include: list(byDefault, `${what} that are taken, as globs: \`*\` stands for any characters, \`?\` for one.`),
    exclude: list([], `${what} that are left out again, as globs.`),
  })
}
