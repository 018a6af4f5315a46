import type { JsonObject, KubeObject, NewObject } from '../kubernetes/objects.ts'
import type { MatchContext } from '../kubernetes/webhook-matching.ts'

export const webhookName = 'claims.webhook.k8s-cloud-tagger'

export interface RegistrationOptions {
  /** Of the configuration object. */
  readonly name: string
  readonly url: string
  /** In PEM. */
  readonly ca: string
  /** The only namespaces that it is called for; everything but the system's own where it is missing. */
  readonly namespaces?: readonly string[]
  readonly timeoutSeconds?: number
}

const notDeleting = '!has(object.metadata.deletionTimestamp)'
const changedWhereTagsComeFrom = `request.operation == 'CREATE' ||
object.metadata.?labels.orValue({}) != oldObject.metadata.?labels.orValue({}) ||
object.metadata.?annotations.orValue({}) != oldObject.metadata.?annotations.orValue({}) ||
object.spec.?volumeName.orValue('') != oldObject.spec.?volumeName.orValue('')`

/** The configuration that the product is installed with. */
export function webhookConfiguration({
  name,
  url,
  ca,
  namespaces,
  timeoutSeconds = 2,
}: RegistrationOptions): NewObject {
  const own = ['kube-system', 'kube-node-lease', 'k8s-cloud-tagger']
  return {
    metadata: { name },
    webhooks: [
      {
        name: webhookName,
        admissionReviewVersions: ['v1'],
        clientConfig: { url, caBundle: Buffer.from(ca).toString('base64') },
        failurePolicy: 'Ignore',
        timeoutSeconds,
        sideEffects: 'NoneOnDryRun',
        matchPolicy: 'Equivalent',
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            resources: ['persistentvolumeclaims'],
            operations: ['CREATE', 'UPDATE'],
            scope: 'Namespaced',
          },
        ],
        namespaceSelector: {
          matchExpressions: [
            { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: own },
            ...(namespaces === undefined
              ? []
              : [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces }]),
          ],
        },
        matchConditions: [
          { name: 'not-deleting', expression: notDeleting },
          { name: 'created-or-changed-in-what-tags-come-from', expression: changedWhereTagsComeFrom },
        ],
      },
    ],
  }
}

/** What the two expressions mean, for the embedded API, which knows no CEL. */
export function matchCondition(expression: string, context: MatchContext): boolean {
  if (expression === notDeleting) return context.object?.metadata.deletionTimestamp === undefined
  if (expression === changedWhereTagsComeFrom) {
    return context.request['operation'] === 'CREATE' || tagSourcesOf(context.object) !== tagSourcesOf(context.oldObject)
  }
  throw new Error(`an expression that nobody knows: ${expression}`)
}

/** Equal for equal labels, annotations and volume. */
function tagSourcesOf(claim: KubeObject | undefined): string {
  const sorted = (map: JsonObject = {}) => Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const { labels, annotations } = claim?.metadata ?? {}
  return JSON.stringify([sorted(labels), sorted(annotations), claim?.spec?.['volumeName'] ?? ''])
}
