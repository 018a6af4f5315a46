// What a request may say, by the descriptors inside Google's own client: every field by its name and its type, in the path,
// the query, the body and the field mask. The fake refuses the rest as the service does.
import { createRequire } from 'node:module'
import { parseMask, type Mask } from './field-mask.ts'
import { invalid } from './wire.ts'

interface Field {
  readonly type: string
  readonly rule?: 'repeated'
  readonly keyType?: string
  readonly options?: { readonly '(google.api.field_behavior)'?: string }
}

interface Descriptor {
  readonly fields?: Readonly<Record<string, Field>>
  readonly values?: Readonly<Record<string, number>>
  readonly nested?: Readonly<Record<string, Descriptor>>
  readonly methods?: Readonly<Record<string, Method>>
}

interface Method {
  readonly requestType: string
  readonly responseType: string
  readonly options: Readonly<Record<string, string>>
}

/** A request, as it came. */
export interface RawRequest {
  /** Google's name of the call, such as `disks.setLabels`. */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly fieldMask: string | undefined
  readonly body: string
}

/** Parameters that every call of Google's takes. */
const systemParameters: ReadonlySet<string> = new Set(['$alt', 'alt', 'fields', 'key', 'prettyPrint', 'quotaUser'])

let loaded: Descriptor | undefined

/** Twelve megabytes of JSON, so only with the first request. */
function compute(): Descriptor {
  if (loaded !== undefined) return loaded
  let found = createRequire(import.meta.url)('@google-cloud/compute/build/protos/protos.json') as Descriptor
  for (const name of ['google', 'cloud', 'compute', 'v1']) found = nestedIn(found, name)
  loaded = found
  return found
}

function nestedIn({ nested }: Descriptor, name: string): Descriptor {
  const found = nested?.[name]
  if (found === undefined) throw new Error(`the client's descriptors have no ${name}`)
  return found
}

/** Throws ComputeRefusal for what the service would not understand. */
export function checkRequest(request: RawRequest): void {
  const [service = '', verb = ''] = request.operation.split('.')
  const { options, requestType, responseType } = methodOf(service, verb)
  const template = options[`(google.api.http).${request.method.toLowerCase()}`]
  if (template === undefined) throw invalid(`${request.operation} is not called by ${request.method}.`)
  const inPath = pathFields(template, request.path)
  const { fields = {} } = nestedIn(compute(), requestType)
  const inBody = options['(google.api.http).body']
  checkQuery(request.query, fields, new Set([...inPath, camelCase(inBody ?? '')]))
  checkBody(request.body, inBody === undefined ? undefined : fields[camelCase(inBody)])
  if (request.fieldMask !== undefined) checkMask(parseMask(request.fieldMask), responseType, responseType)
}

function methodOf(service: string, verb: string): Method {
  const name = service.charAt(0).toUpperCase() + service.slice(1)
  const method = nestedIn(compute(), name).methods?.[verb.charAt(0).toUpperCase() + verb.slice(1)]
  if (method === undefined) throw new Error(`the client's descriptors have no ${service}.${verb}`)
  return method
}

/** The names of the fields in the path. */
function pathFields(template: string, path: string): string[] {
  const pattern = new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
  const { groups } = pattern.exec(path) ?? {}
  if (groups === undefined) throw invalid(`The path ${path} is not of the form ${template}.`)
  return Object.keys(groups).map(camelCase)
}

function checkQuery(
  query: URLSearchParams,
  fields: Readonly<Record<string, Field>>,
  elsewhere: ReadonlySet<string>,
): void {
  for (const [name, text] of query) {
    if (systemParameters.has(name)) continue
    const field = elsewhere.has(name) ? undefined : fields[name]
    if (field === undefined) throw unknownName(name, 'the query')
    // In a query everything is text.
    if (!isWritten(text, field.type)) throw illTyped(name, field.type, text)
  }
}

function isWritten(text: string, type: string): boolean {
  if (type === 'bool') return /^(?:true|false)$/.test(text)
  return /^(?:u?int|s?fixed)(?:32|64)$/.test(type) ? /^-?\d+$/.test(text) : true
}

function checkBody(body: string, field: Field | undefined): void {
  if (field === undefined) {
    if (body !== '') throw invalid('Invalid JSON payload received. This method takes none.')
    return
  }
  checkMessage(parsed(body), field.type, '')
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw invalid('Invalid JSON payload received.')
  }
}

function checkMessage(value: unknown, type: string, where: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw illTyped(where, type, value)
  const { fields = {} } = nestedIn(compute(), type)
  for (const [name, part] of Object.entries(value)) {
    const field = fields[name]
    if (field === undefined) throw unknownName(name, where === '' ? 'the body' : where)
    checkField(part, field, where === '' ? name : `${where}.${name}`)
  }
}

function checkField(value: unknown, { keyType, rule, type }: Field, where: string): void {
  if (rule === 'repeated') {
    if (!Array.isArray(value)) throw illTyped(where, `list of ${type}`, value)
    for (const each of value) checkValue(each, type, where)
  } else if (keyType === undefined) {
    checkValue(value, type, where)
  } else {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw illTyped(where, 'map', value)
    for (const [key, each] of Object.entries(value)) checkValue(each, type, `${where}[${key}]`)
  }
}

function checkValue(value: unknown, type: string, where: string): void {
  const scalar = scalarTypes[type]
  if (scalar === undefined) checkMessage(value, type, where)
  else if (!scalar(value)) throw illTyped(where, type, value)
}

const isNumber = (value: unknown) => typeof value === 'number' || (typeof value === 'string' && /^-?\d+$/.test(value))
const scalarTypes: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  bool: (value) => typeof value === 'boolean',
  int32: isNumber,
  uint32: isNumber,
  int64: isNumber,
  uint64: isNumber,
}

/** A mask may end at any field; below a map every key is a field. */
function checkMask(mask: Mask, type: string, where: string): void {
  const { fields = {} } = nestedIn(compute(), type)
  for (const [name, below] of Object.entries(mask)) {
    if (name === '*') continue
    const field = fields[name]
    if (field === undefined) throw invalid(`Invalid field selection ${name} in ${where}`)
    if (below === undefined || field.keyType !== undefined) continue
    if (scalarTypes[field.type] !== undefined) throw invalid(`Invalid field selection below ${where}.${name}`)
    checkMask(below, field.type, `${where}.${name}`)
  }
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function unknownName(name: string, where: string): Error {
  return invalid(`Invalid JSON payload received. Unknown name "${name}" in ${where}: Cannot find field.`)
}

function illTyped(where: string, type: string, value: unknown): Error {
  return invalid(`Invalid value at '${where}' (TYPE_${type.toUpperCase()}), ${JSON.stringify(value)}`)
}
