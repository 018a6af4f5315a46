/** A glob as users write it in rules: `*` stands for any characters, `?` for one, everything else for itself. */
export function globPattern(glob: string): RegExp {
  const pattern = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${pattern}$`, 'su')
}

export type Matches = (text: string) => boolean

export function matchesAny(globs: readonly string[]): Matches {
  if (globs.length === 0) return () => false
  if (globs.includes('*')) return () => true
  const exact = new Set(globs.filter((glob) => !/[*?]/.test(glob)))
  const patterns = globs.filter((glob) => !exact.has(glob)).map((glob) => globPattern(glob))
  return (text) => exact.has(text) || patterns.some((pattern) => pattern.test(text))
}

export interface Globs {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/** What is included and not excluded. */
export function selects({ include, exclude }: Globs): Matches {
  const included = matchesAny(include)
  const excluded = matchesAny(exclude)
  return (text) => included(text) && !excluded(text)
}
