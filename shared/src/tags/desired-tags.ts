import type { TagProblem, TagSet } from './tag-set.ts'
import { readOwnTags } from './own-tags.ts'
import type { TagRules, TagSources } from './tag-rules.ts'
import { namesVolume, parseTemplate, renderTemplate, renderedLengthMax } from './template.ts'
import type { Template, TemplateFields } from './template.ts'

/** What the owner wishes, before any cloud has bent it. */
export interface DesiredTags {
  readonly tags: TagSet
  /** The keys among them that no claim can change: they win every clash, and are the last that a full disk drops. */
  readonly enforced: ReadonlySet<string>
  /** The label, annotation or rule that each tag comes from, where its key is another. */
  readonly sources: ReadonlyMap<string, string>
  readonly problems: readonly TagProblem[]
  /** False where an input could not be read: then nothing may be removed on its account. */
  readonly complete: boolean
}

/** One wish for one key, before renaming. Later layers win. */
interface Wished {
  readonly value: string
  readonly layer: number
  /** Asked for by the claim, and not by the config or the namespace. */
  readonly byClaim: boolean
}

/**
 * The layers, later wins: default tags, namespace labels, claim labels, claim annotations, the claim's own tags. Then
 * names are changed, and enforced tags come over all. Where two keys get one name the later layer wins, then the key that
 * has that name already, then the first in order; the other is reported.
 */
export function desiredTags(sources: TagSources, rules: TagRules): DesiredTags {
  const problems: TagProblem[] = []
  const layers = new Layers(rules, problems)
  const fields = templateFields(sources, rules)
  const { claim, namespace } = sources

  layers.add(rendered(rules.defaults, fields, problems), false)
  layers.add(selected(namespace?.labels, rules.takesNamespaceLabel), false)
  layers.add(selected(claim.labels, rules.takesLabel), true)
  layers.add(selected(claim.annotations, rules.takesAnnotation), true)
  const own = ownTags(sources, rules, { fields, problems })
  layers.add(own ?? [], true)

  const enforced = new Map(rendered(rules.enforced, fields, problems))
  const { tags, labels } = named(layers.wished, { rules, enforced, problems })
  return {
    tags: new Map([...tags, ...enforced]),
    enforced: new Set(enforced.keys()),
    sources: labels,
    problems,
    complete: own !== undefined,
  }
}

class Layers {
  readonly wished = new Map<string, Wished>()
  readonly #rules: TagRules
  readonly #problems: TagProblem[]
  #layer = 0

  constructor(rules: TagRules, problems: TagProblem[]) {
    this.#rules = rules
    this.#problems = problems
  }

  add(entries: Iterable<readonly [string, string]>, byClaim: boolean): void {
    this.#layer++
    for (const [key, value] of entries) {
      if (this.#rules.deniesValue(value)) {
        const message = 'the value is on the deny list (tags.denyValues); the tag was left out'
        this.#problems.push({ kind: 'denied-value', label: key, tag: undefined, message })
      } else this.wished.set(key, { value, layer: this.#layer, byClaim })
    }
  }
}

function selected(
  map: Readonly<Record<string, string>> | undefined,
  takes: (key: string) => boolean,
): readonly (readonly [string, string])[] {
  return Object.entries(map ?? {}).filter(([key]) => takes(key))
}

function templateFields({ claim, namespace }: TagSources, rules: TagRules): TemplateFields {
  return {
    Name: claim.name,
    Namespace: claim.namespace,
    Cluster: rules.clusterName,
    StorageClass: claim.storageClassName,
    VolumeName: claim.volumeName,
    Labels: claim.labels,
    Annotations: claim.annotations,
    NamespaceLabels: namespace?.labels ?? {},
  }
}

function* rendered(
  templates: ReadonlyMap<string, Template>,
  fields: TemplateFields,
  problems: TagProblem[],
): Iterable<readonly [string, string]> {
  for (const [key, template] of templates) {
    const value = valueOf(key, template, { fields, problems })
    if (value !== undefined) yield [key, value]
  }
}

interface Rendering {
  readonly fields: TemplateFields
  readonly problems: TagProblem[]
}

function valueOf(key: string, template: Template, { fields, problems }: Rendering): string | undefined {
  const result = renderTemplate(template, fields)
  if (result.ok) return result.value
  // A claim that is being created has no volume yet; nobody has to hear of it.
  if (fields.VolumeName !== undefined || !namesVolume(template)) {
    const message =
      result.missing === undefined
        ? `the template gives more than ${renderedLengthMax} characters; the tag was left out`
        : `the template needs ${result.missing}, which is not there; the tag was left out`
    problems.push({ kind: 'invalid-template', label: key, tag: undefined, message })
  }
  return undefined
}

/** Undefined where the annotation cannot be read. */
function ownTags(
  { claim }: TagSources,
  rules: TagRules,
  { fields, problems }: Rendering,
): ReadonlyMap<string, string> | undefined {
  const annotation = rules.ownTagsAnnotations.find((name) => Object.hasOwn(claim.annotations, name))
  if (annotation === undefined) return new Map()
  const read = readOwnTags(claim.annotations[annotation] ?? '')
  if (!read.ok) {
    const message = `${read.problem}; the tags that are there stay as they are`
    problems.push({ kind: 'invalid-annotation', label: annotation, tag: undefined, message })
    return undefined
  }
  for (const key of read.refused) {
    problems.push({
      kind: 'invalid-value',
      label: key,
      tag: undefined,
      message: 'the value is no text; the tag was left out',
    })
  }
  const tags = new Map<string, string>()
  for (const [key, text] of read.tags) {
    const parsed = parseTemplate(text)
    if (!parsed.ok) {
      const message = 'the value holds a template that is not known; the tag was left out'
      problems.push({ kind: 'invalid-template', label: key, tag: undefined, message })
      continue
    }
    const value = valueOf(key, parsed.template, { fields, problems })
    if (value !== undefined) tags.set(key, value)
  }
  return tags
}

interface Naming {
  readonly rules: TagRules
  readonly enforced: TagSet
  readonly problems: TagProblem[]
}

/** Each wish under the name that it is written by, where no enforced tag has that name. */
function named(
  wished: ReadonlyMap<string, Wished>,
  { rules: { rename, prefix }, enforced, problems }: Naming,
): { readonly tags: Map<string, string>; readonly labels: Map<string, string> } {
  const tags = new Map<string, string>()
  const labels = new Map<string, string>()
  const nameOf = (key: string) => rename.get(key) ?? key
  const changed = (key: string) => Number(nameOf(key) !== key)
  // The winner of each name comes first.
  const inOrder = [...wished].toSorted(
    ([a, { layer: aLayer }], [b, { layer: bLayer }]) => bLayer - aLayer || changed(a) - changed(b) || (a < b ? -1 : 1),
  )
  for (const [key, { value, byClaim }] of inOrder) {
    const tag = prefix + nameOf(key)
    const stands = enforced.get(tag) ?? tags.get(tag)
    if (stands === undefined) {
      tags.set(tag, value)
      if (tag !== key) labels.set(tag, key)
    } else if (stands === value) {
      continue
    } else if (!enforced.has(tag)) {
      const message = `it would become the tag ${tag}, as ${labels.get(tag) ?? tag} does; it was left out`
      problems.push({ kind: 'collision', label: key, tag: undefined, message })
    } else if (byClaim) {
      problems.push({ kind: 'enforced', label: key, tag, message: `the tag ${tag} is enforced; it stays ${stands}` })
    }
  }
  return { tags, labels }
}
