import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '@k8s-cloud-tagger/shared/testing/kubernetes/objects.ts'
import type { MatchCondition, MatchContext } from '@k8s-cloud-tagger/shared/testing/kubernetes/webhook-matching.ts'

/** What the expressions of `e2e/manifests/webhook.yaml` say, by the names of their conditions: nothing here speaks CEL. */
const standIns: Readonly<Record<string, (context: MatchContext) => boolean>> = {
  'not-deleting': ({ object }) => object?.metadata.deletionTimestamp === undefined,
  'created-or-changed-in-what-tags-come-from': ({ object, oldObject, request }) =>
    request['operation'] === 'CREATE' ||
    !isDeepStrictEqual(object?.metadata.labels ?? {}, oldObject?.metadata.labels ?? {}) ||
    !isDeepStrictEqual(object?.metadata.annotations ?? {}, oldObject?.metadata.annotations ?? {}) ||
    volumeName(object) !== volumeName(oldObject),
}

/** Throws for a condition that has no stand-in: an unknown one must not pass for a webhook that was simply not called. */
export function standInFor(
  conditions: readonly { readonly name: string; readonly expression: string }[],
): MatchCondition {
  const byExpression = new Map<string, (context: MatchContext) => boolean>()
  for (const { name, expression } of conditions) {
    const standIn = standIns[name]
    if (standIn === undefined) throw new Error(`The demo has no stand-in for the match condition ${name}`)
    byExpression.set(expression, standIn)
  }
  return (expression, context) => {
    const standIn = byExpression.get(expression)
    if (standIn === undefined) throw new Error(`The demo has no stand-in for the expression ${expression}`)
    return standIn(context)
  }
}

function volumeName(claim: KubeObject | undefined): unknown {
  return claim?.spec?.['volumeName'] ?? ''
}
