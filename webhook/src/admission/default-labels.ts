import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import { isLabelValue } from '@k8s-cloud-tagger/shared/config/default-labels.ts'
import type { TagRules } from '@k8s-cloud-tagger/shared/tags/tag-rules.ts'
import { reads, renderTemplate } from '@k8s-cloud-tagger/shared/tags/template.ts'
import type { Template } from '@k8s-cloud-tagger/shared/tags/template.ts'
import { addLabels } from './json-patch.ts'
import { allowed, asClaim } from './review.ts'
import type { Answer, ReviewedClaim } from './review.ts'
import { noDefaultWarning } from './wording.ts'

export type MutationOutcome = 'labelled' | 'complete' | 'out-of-scope' | 'deleting' | 'not-a-claim'

export const mutationOutcomes: readonly MutationOutcome[] = [
  'labelled',
  'complete',
  'out-of-scope',
  'deleting',
  'not-a-claim',
]

export interface DefaultLabelsDeps {
  /** `admission.defaultLabels`, by label. */
  readonly labels: ReadonlyMap<string, Template>
  readonly rules: TagRules
  readonly scopeNeedsNamespace: boolean
  /** Nothing is written, so no label either. */
  readonly reportOnly: boolean
}

/**
 * Labels for claims that lack them. Pure.
 *
 * Which operations it is called for, the registration says: CREATE alone by default. On every UPDATE a label that somebody
 * took off would come back, and GitOps tools that own it would fight with us; under server-side apply a label that came with
 * CREATE belongs to no later apply, so that a second one leaves it as it is. A label that is there, with whatever value, is
 * never changed, so that being called again adds nothing.
 */
export class DefaultLabels {
  readonly #deps: DefaultLabelsDeps
  /** Whether an answer depends on the labels of the claim's namespace. */
  readonly needsNamespace: boolean

  constructor(deps: DefaultLabelsDeps) {
    const isActive = deps.labels.size > 0 && !deps.reportOnly
    const readsNamespace = [...deps.labels.values()].some((template) => reads(template, 'NamespaceLabels'))
    this.#deps = isActive ? deps : { ...deps, labels: new Map() }
    this.needsNamespace = isActive && (deps.scopeNeedsNamespace || readsNamespace)
  }

  /** Without its namespace a claim gets what does not depend on it. */
  answerFor(
    claim: ReviewedClaim,
    namespace: NamespaceInfo | undefined,
  ): { readonly answer: Answer; readonly outcome: MutationOutcome } {
    const { labels, rules, scopeNeedsNamespace } = this.#deps
    if (claim.deleting) return { answer: allowed, outcome: 'deleting' }
    if ([...labels.keys()].every((key) => Object.hasOwn(claim.labels, key))) {
      return { answer: allowed, outcome: 'complete' }
    }
    const isUnknown = namespace === undefined && scopeNeedsNamespace
    if (isUnknown || rules.outOfScope({ claim: asClaim(claim), namespace }) !== undefined) {
      return { answer: allowed, outcome: 'out-of-scope' }
    }
    const { added, illegal } = this.#lacking(claim, namespace)
    const answer: Answer = { allowed: true, warnings: illegal.map(noDefaultWarning), patch: addLabels(added, claim) }
    return { answer, outcome: added.size > 0 ? 'labelled' : 'complete' }
  }

  /** Until nothing more comes of it: a default may read a label that is a default too. */
  #lacking(
    claim: ReviewedClaim,
    namespace: NamespaceInfo | undefined,
  ): { readonly added: ReadonlyMap<string, string>; readonly illegal: readonly string[] } {
    const added = new Map<string, string>()
    for (;;) {
      const illegal: string[] = []
      const known = added.size
      const present = { ...claim.labels, ...Object.fromEntries(added) }
      for (const [key, template] of this.#deps.labels) {
        if (Object.hasOwn(present, key)) continue
        const value = this.#valueOf(template, { ...claim, labels: present }, namespace)
        if (value !== undefined && isLabelValue(value)) added.set(key, value)
        else if (value !== undefined) illegal.push(key)
      }
      if (added.size === known) return { added, illegal }
    }
  }

  /** Undefined where the claim does not have yet, or its namespace does not have, what the template names. */
  #valueOf(template: Template, claim: ReviewedClaim, namespace: NamespaceInfo | undefined): string | undefined {
    if (claim.name === undefined && namesClaim(template)) return undefined
    const rendered = renderTemplate(template, {
      Name: claim.name ?? '',
      Namespace: claim.namespace,
      Cluster: this.#deps.rules.clusterName,
      StorageClass: claim.storageClassName,
      VolumeName: claim.volumeName,
      Labels: claim.labels,
      Annotations: claim.annotations,
      NamespaceLabels: namespace?.labels ?? {},
    })
    return rendered.ok ? rendered.value : undefined
  }
}

/** A name that `generateName` is still to make is not known. */
function namesClaim({ parts }: Template): boolean {
  return parts.some((part) => part.kind === 'field' && part.field === 'Name')
}
