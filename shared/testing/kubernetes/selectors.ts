import { badRequest } from './api-status.ts'
import { isJsonObject, type KubeObject } from './objects.ts'

/** True for the objects that a list, a watch or a webhook is about. */
export type Selects = (object: KubeObject) => boolean

/** `metadata.name=x` and `metadata.namespace=x`, the only fields by which claims and volumes can be selected. */
export function parseFieldSelector(text: string): Selects {
  const wanted = text.split(',').map((term) => {
    const match = /^(metadata\.name|metadata\.namespace)(!=|==?)(.*)$/.exec(term)
    if (match === null) throw unknownField(term.split(/[!=]/)[0] ?? term)
    const [, field, operator, value = ''] = match
    return { name: field === 'metadata.name', equal: operator !== '!=', value }
  })
  return ({ metadata }) =>
    wanted.every(({ name, equal, value }) => ((name ? metadata.name : (metadata.namespace ?? '')) === value) === equal)
}

function unknownField(field: string): Error {
  const known = 'only "metadata.name", "metadata.namespace"'
  return badRequest(`"${field}" is not a known field selector: ${known}`)
}

/** Equality, set membership and existence: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. */
export function parseLabelSelector(text: string): Selects {
  // A comma within brackets separates values, not terms.
  const terms = text.split(/,(?![^(]*\))/).map((term) => parseLabelTerm(term.trim()))
  return (object) => terms.every((holds) => holds(object.metadata.labels ?? {}))
}

type Labels = Readonly<Record<string, string>>

function parseLabelTerm(term: string): (labels: Labels) => boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term)
  if (set !== null) {
    const [, key = '', operator, list = ''] = set
    const values = list.split(',').map((value) => value.trim())
    return (labels) => isIn(labels[key], values) === (operator === 'in')
  }
  const equality = /^([\w./-]+)\s*(!=|==?)\s*([\w.-]*)$/.exec(term)
  if (equality !== null) {
    const [, key = '', operator, value = ''] = equality
    return (labels) => (labels[key] === value) === (operator !== '!=')
  }
  const existence = /^(!?)([\w./-]+)$/.exec(term)
  if (existence === null) throw badRequest(`unable to parse requirement: ${term}`)
  const [, not, key = ''] = existence
  return (labels) => Object.hasOwn(labels, key) === (not === '')
}

/** A `LabelSelector` object, as webhook configurations hold it. Nothing or an empty one selects everything. */
export function labelsMatch(selector: unknown, labels: Labels): boolean {
  if (!isJsonObject(selector)) return true
  const wanted = isJsonObject(selector['matchLabels']) ? Object.entries(selector['matchLabels']) : []
  const expressions: readonly unknown[] = Array.isArray(selector['matchExpressions'])
    ? selector['matchExpressions']
    : []
  return (
    wanted.every(([key, value]) => labels[key] === value) &&
    expressions.every((expression) => isJsonObject(expression) && expressionHolds(expression, labels))
  )
}

function expressionHolds(expression: Record<string, unknown>, labels: Labels): boolean {
  const key = String(expression['key'])
  const values = Array.isArray(expression['values']) ? expression['values'].map(String) : []
  switch (expression['operator']) {
    case 'In':
      return isIn(labels[key], values)
    case 'NotIn':
      return !isIn(labels[key], values)
    case 'Exists':
      return Object.hasOwn(labels, key)
    case 'DoesNotExist':
      return !Object.hasOwn(labels, key)
    default:
      throw badRequest(`${String(expression['operator'])} is not a valid label selector operator`)
  }
}

function isIn(value: string | undefined, values: readonly string[]): boolean {
  return value !== undefined && values.includes(value)
}
