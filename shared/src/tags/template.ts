/** More than any cloud's value; bounds what a template over annotations can make. In characters. */
export const renderedLengthMax = 1024

/** What a template may name. Undefined where the claim does not have it (yet). */
export interface TemplateFields {
  readonly Name: string
  readonly Namespace: string
  readonly Cluster: string
  readonly StorageClass: string | undefined
  readonly VolumeName: string | undefined
  readonly Labels: Readonly<Record<string, string>>
  readonly Annotations: Readonly<Record<string, string>>
  readonly NamespaceLabels: Readonly<Record<string, string>>
}

const textFields = ['Name', 'Namespace', 'Cluster', 'StorageClass', 'VolumeName'] as const
const mapFields = ['Labels', 'Annotations', 'NamespaceLabels'] as const
type TextField = (typeof textFields)[number]
export type MapField = (typeof mapFields)[number]

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'field'; readonly field: TextField }
  | { readonly kind: 'entry'; readonly map: MapField; readonly key: string }

/** Text with fields of the claim in it. No functions, no code, nothing is escaped. */
export interface Template {
  readonly parts: readonly Part[]
}

export type ParsedTemplate =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly problem: string }

export type Rendered =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly missing: string }
  | { readonly ok: false; readonly missing: undefined; readonly length: number }

const forms =
  'a template holds {{ .Name }}, {{ .Labels.team }} or {{ index .Labels "a/b" }} with one of ' +
  `${textFields.map((field) => `.${field}`).join(', ')}, ${mapFields.map((field) => `.${field}`).join(', ')}`

/** `{{ .Namespace }}`, `{{ .Labels.team }}`, `{{ index .Labels "a/b" }}`; with or without spaces and Go's trim dashes. */
export function parseTemplate(text: string): ParsedTemplate {
  const parts: Part[] = []
  let rest = text
  while (rest !== '') {
    const start = rest.indexOf('{{')
    if (start === -1) {
      parts.push({ kind: 'text', text: rest })
      break
    }
    if (start > 0) parts.push({ kind: 'text', text: rest.slice(0, start) })
    const end = rest.indexOf('}}', start)
    if (end === -1) return { ok: false, problem: `{{ without }}; ${forms}` }
    const expression = rest.slice(start + 2, end).trim()
    const part = parseExpression(expression)
    if (part === undefined) return { ok: false, problem: `{{ ${expression} }} is not known; ${forms}` }
    parts.push(part)
    rest = rest.slice(end + 2)
  }
  return { ok: true, template: { parts } }
}

function parseExpression(expression: string): Part | undefined {
  const plain = /^\.([A-Za-z]+)$/.exec(expression)?.[1]
  const field = textFields.find((each) => each === plain)
  if (field !== undefined) return { kind: 'field', field }
  // A key with a dot, slash or dash is no name in Go's templates, so it is written with `index`.
  const [, map, key] =
    /^\.([A-Za-z]+)\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(expression) ??
    /^index \.([A-Za-z]+) "([^"\\]+)"$/.exec(expression) ??
    []
  const found = mapFields.find((each) => each === map)
  return found === undefined || key === undefined ? undefined : { kind: 'entry', map: found, key }
}

/** The value for one claim; or which field it lacks, or that it is too long. */
export function renderTemplate({ parts }: Template, fields: TemplateFields): Rendered {
  let value = ''
  for (const part of parts) {
    const text = textOf(part, fields)
    if (text === undefined) return { ok: false, missing: nameOf(part) }
    value += text
    if (value.length > renderedLengthMax) return { ok: false, missing: undefined, length: value.length }
  }
  return { ok: true, value }
}

/** Whether a template reads this map, or one key of it. */
export function reads({ parts }: Template, map: MapField, key?: string): boolean {
  return parts.some((part) => part.kind === 'entry' && part.map === map && (key === undefined || part.key === key))
}

export function namesVolume({ parts }: Template): boolean {
  return parts.some((part) => part.kind === 'field' && part.field === 'VolumeName')
}

function textOf(part: Part, fields: TemplateFields): string | undefined {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'field':
      return fields[part.field]
    case 'entry': {
      const map = fields[part.map]
      return Object.hasOwn(map, part.key) ? map[part.key] : undefined
    }
    default:
      return part satisfies never
  }
}

function nameOf(part: Part): string {
  if (part.kind === 'entry') return `.${part.map} "${part.key}"`
  return part.kind === 'field' ? `.${part.field}` : ''
}
