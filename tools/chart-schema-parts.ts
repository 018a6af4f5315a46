/** The few shapes that the chart's values are made of. Everything is closed, but what Kubernetes itself defines. */
export type Schema = Readonly<Record<string, unknown>>

export function group(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', additionalProperties: false, properties }
}

/** A group that may be left empty, and otherwise has to have `required`. */
export function optionalGroup(properties: Readonly<Record<string, Schema>>, required: readonly string[]): Schema {
  return { ...group(properties), anyOf: [{ maxProperties: 0 }, { required }] }
}

export const text: Schema = { type: 'string' }
export const flag: Schema = { type: 'boolean' }
/** As Kubernetes defines it; checked where the objects are checked. */
export const anyMap: Schema = { type: 'object' }
export const anyMaps: Schema = { type: 'array', items: anyMap }
export const texts: Schema = { type: 'array', items: text }
export const textMap: Schema = { type: 'object', additionalProperties: text }

export const annotations = textMap
export const labels: Schema = {
  type: 'object',
  additionalProperties: matching('([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?'),
}
/** The maps of an object that have no settings beside them. */
export const objectMeta = { annotations, labels }

export function choice(...values: readonly string[]): Schema {
  return { type: 'string', enum: values }
}

export function matching(pattern: string): Schema {
  return { type: 'string', pattern: `^${pattern}$` }
}

export function count(minimum: number, maximum: number): Schema {
  return { type: 'integer', minimum, maximum }
}

const dnsLabel = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?'
/** A DNS label, or empty. */
export const optionalName = matching(`(${dnsLabel})?`)
/** The name of a Secret or an account, or empty. */
export const optionalObjectName = matching(`([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?`)
/** As Go reads it: no days, parts may follow each other. */
export const goDuration = matching('([0-9]+(h|m|s))+')
/** As Prometheus reads it, or empty. */
export const optionalPrometheusDuration = matching('([0-9]+(ms|[smhdwy]))*')
export const portNumber = count(1, 65_535)
