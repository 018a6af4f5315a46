import { parseTemplate } from '../tags/template.ts'
import type { Template } from '../tags/template.ts'

export type CompiledDefaultLabels =
  | { readonly ok: true; readonly labels: ReadonlyMap<string, Template> }
  /** Each as `path: value, what is allowed`. */
  | { readonly ok: false; readonly problems: readonly string[] }

/** The templates of `admission.defaultLabels`, by the label that each is the value of. */
export function compileDefaultLabels(texts: Readonly<Record<string, string>>): CompiledDefaultLabels {
  const labels = new Map<string, Template>()
  const problems: string[] = []
  for (const [key, text] of Object.entries(texts)) {
    const path = `admission.defaultLabels.${key}`
    const parsed = parseTemplate(text)
    if (!parsed.ok) problems.push(`${path}: ${JSON.stringify(text)}, ${parsed.problem}`)
    else if (!isLabelKey(key)) problems.push(`${path}: is no label that Kubernetes takes`)
    else if (isFixed(parsed.template) && !isLabelValue(text)) {
      problems.push(`${path}: ${JSON.stringify(text)}, must be ${labelValueForm}`)
    } else labels.set(key, parsed.template)
  }
  return problems.length === 0 ? { ok: true, labels } : { ok: false, problems }
}

export const labelValueForm =
  'empty, or at most 63 letters, digits, - _ and . that begin and end with a letter or digit'

// Kubernetes' qualified names (apimachinery, util/validation): a DNS subdomain, a slash and a name; the first two may miss.
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const name = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/

export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && name.test(text))
}

function isLabelKey(text: string): boolean {
  const [first = '', second, ...more] = text.split('/')
  if (more.length > 0) return false
  if (second === undefined) return first.length <= 63 && name.test(first)
  return first.length <= 253 && subdomain.test(first) && second.length <= 63 && name.test(second)
}

function isFixed({ parts }: Template): boolean {
  return parts.every((part) => part.kind === 'text')
}
