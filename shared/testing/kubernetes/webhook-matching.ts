import type { AdmissionRequest } from './admission.ts'
import { isJsonObject, type JsonObject, type KubeObject } from './objects.ts'
import { labelsMatch } from './selectors.ts'

/** What a CEL expression may look at. */
export interface MatchContext {
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
  /** The request of the AdmissionReview. */
  readonly request: JsonObject
}

/**
 * Stands in for CEL: answers for one expression of `matchConditions`. A throw is an evaluation error, which skips a
 * webhook with failurePolicy Ignore and refuses the write with Fail.
 */
export type MatchCondition = (expression: string, context: MatchContext) => boolean

/** Whether rules and selectors of a webhook take in this write; matchConditions come afterwards. */
export function webhookMatches(
  webhook: JsonObject,
  request: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>> | undefined,
): boolean {
  // Never for these, so that a webhook cannot keep itself from being removed.
  if (request.type.group === 'admissionregistration.k8s.io') return false
  return (
    namespaceSelected(webhook['namespaceSelector'], request, namespaceLabels) &&
    objectSelected(webhook['objectSelector'], request) &&
    asArray(webhook['rules']).some((rule) => isJsonObject(rule) && ruleMatches(rule, request))
  )
}

function namespaceSelected(
  selector: unknown,
  { type, object, oldObject }: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>> | undefined,
): boolean {
  if (type.kind === 'Namespace') return labelsMatch(selector, (object ?? oldObject)?.metadata.labels ?? {})
  return namespaceLabels === undefined || labelsMatch(selector, namespaceLabels)
}

function objectSelected(selector: unknown, { object, oldObject }: AdmissionRequest): boolean {
  return [object, oldObject].some((state) => state !== undefined && labelsMatch(selector, state.metadata.labels ?? {}))
}

function ruleMatches(rule: JsonObject, { operation, type, subresource, namespace }: AdmissionRequest): boolean {
  const scope = rule['scope'] ?? '*'
  return (
    has(rule['operations'], operation) &&
    has(rule['apiGroups'], type.group) &&
    has(rule['apiVersions'], type.version) &&
    (scope === '*' || (scope === 'Namespaced') === (namespace !== undefined)) &&
    asArray(rule['resources']).some((pattern) => resourceMatches(String(pattern), type.plural, subresource))
  )
}

function resourceMatches(pattern: string, plural: string, subresource: string): boolean {
  const [resource = '', sub = ''] = pattern.split('/')
  return (resource === '*' || resource === plural) && (sub === subresource || sub === '*')
}

function has(list: unknown, value: string): boolean {
  return asArray(list).some((entry) => entry === '*' || entry === value)
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
