export type Labels = Readonly<Record<string, string>>

export type LabelSelector = (labels: Labels) => boolean

export type ParsedSelector =
  | { readonly ok: true; readonly selects: LabelSelector }
  | { readonly ok: false; readonly problem: string }

/**
 * A selector as `kubectl -l` takes it: requirements joined by commas, each `key`, `!key`, `key=value` (or `==`),
 * `key!=value`, `key in (a, b)` or `key notin (a, b)`. All must hold; as in Kubernetes `!=` and `notin` also hold where
 * the label is absent. The empty text selects everything.
 */
export function parseSelector(text: string): ParsedSelector {
  const requirements: LabelSelector[] = []
  if (text.trim() === '') return { ok: true, selects: () => true }
  // A comma inside of parentheses belongs to a list of values.
  for (const part of text.split(/,(?![^(]*\))/)) {
    const requirement = parseRequirement(part.trim())
    if (requirement === undefined) {
      return {
        ok: false,
        problem: `${JSON.stringify(part.trim())} is not key, !key, key=value, key!=value, key in (a, b) or key notin (a, b)`,
      }
    }
    requirements.push(requirement)
  }
  return { ok: true, selects: (labels) => requirements.every((holds) => holds(labels)) }
}

// A prefix of a domain's characters and a name, as Kubernetes writes label keys; values have the name's characters.
const key = String.raw`(?<key>[A-Za-z0-9]([A-Za-z0-9./_-]*[A-Za-z0-9])?)`
const value = String.raw`[A-Za-z0-9._-]*`
const exists = new RegExp(`^(?<not>!?)\\s*${key}$`)
const equals = new RegExp(`^${key}\\s*(?<operator>==?|!=)\\s*(?<value>${value})$`)
const isOneOf = new RegExp(`^${key}\\s+(?<operator>in|notin)\\s*\\((?<values>\\s*${value}\\s*(,\\s*${value}\\s*)*)\\)$`)

function parseRequirement(text: string): LabelSelector | undefined {
  const presence = exists.exec(text)?.groups
  if (presence !== undefined) {
    const wanted = presence['not'] === ''
    return (labels) => Object.hasOwn(labels, presence['key'] ?? '') === wanted
  }
  const groups = equals.exec(text)?.groups ?? isOneOf.exec(text)?.groups
  if (groups === undefined) return undefined
  const values = new Set((groups['values'] ?? groups['value'] ?? '').split(',').map((each) => each.trim()))
  const negated = groups['operator'] === '!=' || groups['operator'] === 'notin'
  const label = groups['key'] ?? ''
  return (labels) => {
    const found = Object.hasOwn(labels, label) ? labels[label] : undefined
    return (found !== undefined && values.has(found)) !== negated
  }
}
