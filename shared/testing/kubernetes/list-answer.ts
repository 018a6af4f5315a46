import type { ApiRequest } from './api-request.ts'
import { ApiStatusError, badRequest, invalid } from './api-status.ts'
import type { ListPages, Page } from './list-pages.ts'
import type { JsonObject } from './objects.ts'
import type { Registry } from './registry.ts'
import { apiVersionOf, type ResourceType, shownAs } from './resource-types.ts'
import { parseFieldSelector, parseLabelSelector, type Selects } from './selectors.ts'

/** Namespace and both selectors of a list or a watch. */
export function selectionOf({ query, name }: ApiRequest): { selects: Selects; filtered: boolean } {
  const fields = query.get('fieldSelector') ?? ''
  const labels = query.get('labelSelector') ?? ''
  const byFields = fields === '' ? undefined : parseFieldSelector(fields)
  const byLabels = labels === '' ? undefined : parseLabelSelector(labels)
  return {
    selects: (object) =>
      (name === '' || object.metadata.name === name) && (byFields?.(object) ?? true) && (byLabels?.(object) ?? true),
    filtered: byFields !== undefined || byLabels !== undefined,
  }
}

export function listPage(request: ApiRequest, registry: Registry, pages: ListPages): JsonObject {
  const { type, namespace, query } = request
  const { selects, filtered } = selectionOf(request)
  if (query.has('sendInitialEvents')) {
    const message = 'Forbidden: sendInitialEvents is forbidden for list'
    const listOptions = { group: 'meta.k8s.io', plural: 'ListOptions', kind: 'ListOptions' }
    throw invalid(listOptions, '', [{ reason: 'FieldValueForbidden', message, field: 'sendInitialEvents' }])
  }
  const asked = query.get('resourceVersion') ?? ''
  requireReached(asked, registry.counter.current)
  const page = pages.page({
    current: () => ({ version: registry.counter.current, objects: registry.storeOf(type).list(namespace) }),
    scope: `${type.storeName}/${namespace ?? ''}`,
    selects,
    filtered,
    // A list from version 0 comes from the watch cache, which knows no pages.
    limit: asked === '0' ? 0 : Number(query.get('limit') ?? 0),
    token: query.get('continue') ?? '',
  })
  return listOf(type, page)
}

/** A List object; only it says its kind, its items do not. */
export function listOf(type: ResourceType, page: Page): JsonObject {
  return {
    kind: `${type.kind}List`,
    apiVersion: apiVersionOf(type),
    metadata: {
      resourceVersion: String(page.version),
      ...(page.continueToken === undefined ? {} : { continue: page.continueToken }),
      ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
    },
    items: page.items.map((object) => {
      const { kind: _, apiVersion: __, ...item } = shownAs(type, object)
      return item
    }),
  }
}

function requireReached(asked: string, current: number): void {
  if (asked !== '' && !/^\d+$/.test(asked)) {
    throw badRequest(`invalid resource version: resourceVersion: Invalid value: "${asked}": invalid syntax`)
  }
  if (Number(asked) <= current) return
  throw new ApiStatusError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
    retryAfterSeconds: 1,
  })
}
