import { ignoreAnnotation, lastAppliedAnnotation, ownTagsAnnotation } from '../claims/annotations.ts'
import type { Claim } from '../claims/claim.ts'
import type { NamespaceInfo } from '../claims/namespace.ts'
import { matchesAny, selects } from './glob.ts'
import type { Globs, Matches } from './glob.ts'
import { parseSelector } from './selector.ts'
import type { LabelSelector } from './selector.ts'
import { parseTemplate, reads } from './template.ts'
import type { Template } from './template.ts'

/** The rules as the config has them: its groups `tags` and `scope`. */
export interface RuleTexts {
  readonly clusterName: string
  readonly tags: {
    readonly labels: Globs
    readonly annotations: Globs
    readonly namespaceLabels: Globs
    readonly defaults: Readonly<Record<string, string>>
    readonly enforced: Readonly<Record<string, string>>
    readonly rename: Readonly<Record<string, string>>
    readonly prefix: string
    readonly denyValues: readonly string[]
    readonly claimTags: boolean
    readonly optOut: boolean
    readonly annotationPrefixes: readonly string[]
  }
  readonly scope: {
    readonly namespaces: Globs
    readonly storageClasses: Globs
    readonly claimSelector: string
    readonly namespaceSelector: string
  }
}

/** Everything that tags may be derived from. */
export interface TagSources {
  readonly claim: Claim
  /** Needed only where `TagRules.needsNamespace` says so. */
  readonly namespace: NamespaceInfo | undefined
}

/** Why a claim is left alone by rule: hands off, its disk keeps what it carries. */
export type OutOfScope = 'out-of-scope' | 'opted-out'

/** The rules, ready for use. Made once at start; the same in both programs. */
export interface TagRules {
  readonly clusterName: string
  readonly takesLabel: Matches
  readonly takesAnnotation: Matches
  readonly takesNamespaceLabel: Matches
  readonly defaults: ReadonlyMap<string, Template>
  readonly enforced: ReadonlyMap<string, Template>
  readonly rename: ReadonlyMap<string, string>
  readonly prefix: string
  readonly deniesValue: Matches
  /** Annotations with tags of the claim's own, the first that is there counts; empty where they are off. */
  readonly ownTagsAnnotations: readonly string[]
  /** Whether the namespace's labels have to be known. */
  readonly needsNamespace: boolean
  /** Whether a rule reads this annotation of a claim, so that a cache has to keep it. */
  readonly readsAnnotation: Matches
  /** Undefined where the claim is managed. */
  readonly outOfScope: (sources: TagSources) => OutOfScope | undefined
}

export type CompiledRules =
  | { readonly ok: true; readonly rules: TagRules }
  /** Each as `path: value, what is allowed`. */
  | { readonly ok: false; readonly problems: readonly string[] }

export function compileRules({ clusterName, tags, scope }: RuleTexts): CompiledRules {
  const problems: string[] = []
  const templates = (name: 'defaults' | 'enforced') => parseTemplates(`tags.${name}`, tags[name], problems)
  const selector = (name: 'claimSelector' | 'namespaceSelector') =>
    parseScopeSelector(`scope.${name}`, scope[name], problems)
  const defaults = templates('defaults')
  const enforced = templates('enforced')
  const scopeRules = {
    takesNamespace: selects(scope.namespaces),
    takesStorageClass: selects(scope.storageClasses),
    selectsClaim: selector('claimSelector'),
    selectsNamespace: selector('namespaceSelector'),
    ignoreAnnotations: tags.optOut ? tags.annotationPrefixes.map(ignoreAnnotation) : [],
  }
  for (const key of ['', ...Object.keys(tags.rename)]) {
    if (tags.rename[key] === '')
      problems.push(`tags.rename.${key}: "", must be the new key; to leave a label out use tags.labels.exclude`)
  }
  if (problems.length > 0) return { ok: false, problems }

  const ownTagsAnnotations = tags.claimTags ? tags.annotationPrefixes.map(ownTagsAnnotation) : []
  const never = new Set([
    lastAppliedAnnotation,
    ...tags.annotationPrefixes.flatMap((prefix) => [ownTagsAnnotation(prefix), ignoreAnnotation(prefix)]),
  ])
  const annotationGlobs = selects(tags.annotations)
  const takesAnnotation = (key: string) => annotationGlobs(key) && !never.has(key)
  const all = [...defaults.values(), ...enforced.values()]
  return {
    ok: true,
    rules: {
      clusterName,
      takesLabel: selects(tags.labels),
      takesAnnotation,
      takesNamespaceLabel: selects(tags.namespaceLabels),
      defaults,
      enforced,
      rename: new Map(Object.entries(tags.rename)),
      prefix: tags.prefix,
      deniesValue: matchesAny(tags.denyValues),
      ownTagsAnnotations,
      needsNamespace:
        tags.namespaceLabels.include.length > 0 ||
        scope.namespaceSelector.trim() !== '' ||
        all.some((template) => reads(template, 'NamespaceLabels')),
      readsAnnotation: (key) =>
        takesAnnotation(key) ||
        // A template among a claim's own tags may name any of them.
        (tags.claimTags && key !== lastAppliedAnnotation) ||
        scopeRules.ignoreAnnotations.includes(key) ||
        all.some((template) => reads(template, 'Annotations', key)),
      outOfScope: (sources) => outOfScope(sources, scopeRules),
    },
  }
}

interface ScopeRules {
  readonly takesNamespace: Matches
  readonly takesStorageClass: Matches
  readonly selectsClaim: LabelSelector
  readonly selectsNamespace: LabelSelector
  readonly ignoreAnnotations: readonly string[]
}

function outOfScope({ claim, namespace }: TagSources, rules: ScopeRules): OutOfScope | undefined {
  const ignored = rules.ignoreAnnotations.find((name) => Object.hasOwn(claim.annotations, name))
  if (ignored !== undefined && claim.annotations[ignored] !== 'false') return 'opted-out'
  const inScope =
    rules.takesNamespace(claim.namespace) &&
    rules.takesStorageClass(claim.storageClassName ?? '') &&
    rules.selectsClaim(claim.labels) &&
    rules.selectsNamespace(namespace?.labels ?? {})
  return inScope ? undefined : 'out-of-scope'
}

function parseTemplates(
  path: string,
  texts: Readonly<Record<string, string>>,
  problems: string[],
): Map<string, Template> {
  const templates = new Map<string, Template>()
  for (const [key, text] of Object.entries(texts)) {
    const parsed = parseTemplate(text)
    if (parsed.ok) templates.set(key, parsed.template)
    else problems.push(`${path}.${key}: ${JSON.stringify(text)}, ${parsed.problem}`)
  }
  return templates
}

function parseScopeSelector(path: string, text: string, problems: string[]): LabelSelector {
  const parsed = parseSelector(text)
  if (parsed.ok) return parsed.selects
  problems.push(`${path}: ${parsed.problem}`)
  return () => false
}
