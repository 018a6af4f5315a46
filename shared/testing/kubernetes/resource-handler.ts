import { badRequest, methodNotAllowed, unsupportedMediaType, conflict, invalid } from './api-status.ts'
import type { ApiRequest } from './api-request.ts'
import { applyJsonPatch } from './json-patch.ts'
import { listOf, listPage, selectionOf } from './list-answer.ts'
import type { ListPages } from './list-pages.ts'
import { applyMergePatch, withoutDirectives } from './merge-patch.ts'
import { childOf, isJsonObject, type JsonObject, type KubeObject, type NewObject, stringOf } from './objects.ts'
import type { Place } from './place.ts'
import { type Registry, versionRequired, type WriteContext } from './registry.ts'
import { shownAs } from './resource-types.ts'
import { requireMicroTimes } from './validation.ts'

export interface Answer {
  readonly code: number
  readonly body: unknown
}

/** Carries out one request that is no watch. Throws `ApiStatusError` for every other answer than success. */
export async function handleResource(
  request: ApiRequest,
  registry: Registry,
  pages: ListPages,
  warnings: string[],
): Promise<Answer> {
  switch (request.verb) {
    case 'get':
      return { code: 200, body: shown(request, registry.get(placeOf(request))) }
    case 'list':
    case 'watch':
      return { code: 200, body: listPage(request, registry, pages) }
    case 'create':
      return create(request, registry, warnings)
    case 'update':
      return { code: 200, body: shown(request, await update(request, registry, warnings)) }
    case 'patch':
      return { code: 200, body: shown(request, await patch(request, registry, warnings)) }
    case 'delete':
      return remove(request, registry, warnings)
    case 'deletecollection':
      return removeAll(request, registry, warnings)
    default:
      return request.verb satisfies never
  }
}

async function create(request: ApiRequest, registry: Registry, warnings: string[]): Promise<Answer> {
  if (request.name !== '') throw methodNotAllowed()
  if (request.type.namespaced && request.namespace === undefined) throw methodNotAllowed()
  const body = stored(request, bodyObject(request))
  const object = await registry.create(
    request.type,
    request.namespace,
    body,
    contextOf(request, 'CreateOptions', warnings),
  )
  return { code: 201, body: shown(request, object) }
}

async function update(request: ApiRequest, registry: Registry, warnings: string[]): Promise<KubeObject> {
  const body = stored(request, bodyObject(request)) as KubeObject
  const change = (current: KubeObject): KubeObject => {
    const { uid, resourceVersion } = body.metadata
    if (uid !== undefined && uid !== '' && uid !== current.metadata.uid) {
      const found = `UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`
      throw conflict(request.type, request.name, `Precondition failed: ${found}`)
    }
    const versioned = resourceVersion !== undefined && resourceVersion !== ''
    if (!versioned && mustNameVersion.has(request.type.group)) throw versionRequired(request.type, request.name)
    return structuredClone(body)
  }
  return registry.update(placeOf(request), change, contextOf(request, 'UpdateOptions', warnings))
}

/** The resources of these groups refuse an update that does not say from which version it was made. */
const mustNameVersion: ReadonlySet<string> = new Set(['coordination.k8s.io', 'admissionregistration.k8s.io'])

async function patch(request: ApiRequest, registry: Registry, warnings: string[]): Promise<KubeObject> {
  const apply = patchFunction(request)
  const change = (current: KubeObject): KubeObject =>
    stored(request, apply(shown(request, current)) as unknown as NewObject) as KubeObject
  return registry.update(placeOf(request), change, contextOf(request, 'UpdateOptions', warnings))
}

function patchFunction({ contentType, body }: ApiRequest): (document: JsonObject) => JsonObject {
  switch (contentType) {
    case 'application/json-patch+json':
      requireJson(body)
      return (document) => applyJsonPatch(document, body)
    case 'application/merge-patch+json':
      return (document) => applyMergePatch(document, requireJsonObject(body))
    case 'application/strategic-merge-patch+json':
      return (document) => applyMergePatch(document, withoutDirectives(requireJsonObject(body)))
    default:
      throw unsupportedMediaType()
  }
}

function requireJson(body: unknown): void {
  if (typeof body === 'string')
    throw badRequest(`error decoding patch: invalid character '${body[0] ?? ''}' looking for beginning of value`)
}

function requireJsonObject(body: unknown): JsonObject {
  requireJson(body)
  if (!isJsonObject(body)) throw badRequest('error decoding patch: json: cannot unmarshal into Go value of type map')
  return body
}

async function remove(request: ApiRequest, registry: Registry, warnings: string[]): Promise<Answer> {
  const { type } = request
  const wanted =
    isJsonObject(request.body) && isJsonObject(request.body['preconditions']) ? request.body['preconditions'] : {}
  const uid = stringOf(wanted, 'uid')
  const resourceVersion = stringOf(wanted, 'resourceVersion')
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  const object = await registry.delete(placeOf(request), preconditions, contextOf(request, 'DeleteOptions', warnings))
  if (type.returnsDeleted) return { code: 200, body: shown(request, object) }
  const { name, uid: deletedUid } = object.metadata
  const details = { name, ...(type.group === '' ? {} : { group: type.group }), kind: type.plural, uid: deletedUid }
  return { code: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } }
}

async function removeAll(request: ApiRequest, registry: Registry, warnings: string[]): Promise<Answer> {
  const { type, namespace } = request
  const { selects } = selectionOf(request)
  const objects = registry.storeOf(type).list(namespace).filter(selects)
  for (const { metadata } of objects) {
    const place: Place = { type, namespace: metadata.namespace, name: metadata.name, subresource: '' }
    await registry.delete(place, {}, contextOf(request, 'DeleteOptions', warnings))
  }
  return { code: 200, body: listOf(type, { items: objects, version: registry.counter.current }) }
}

function placeOf({ type, namespace, name, subresource }: ApiRequest): Place {
  return { type, namespace, name, subresource: subresource === 'status' ? 'status' : '' }
}

function contextOf({ user, query, body, verb }: ApiRequest, kind: string, warnings: string[]): WriteContext {
  const asked =
    verb === 'delete' && isJsonObject(body) && Array.isArray(body['dryRun']) ? body['dryRun'] : query.getAll('dryRun')
  if (asked.some((value) => value !== 'All')) {
    const message = `Unsupported value: ${JSON.stringify(asked)}: supported values: "All"`
    const subject = { group: 'meta.k8s.io', plural: kind, kind }
    throw invalid(subject, '', [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }])
  }
  const fieldManager = query.get('fieldManager')
  return {
    user,
    dryRun: asked.length > 0,
    warnings,
    options: {
      kind,
      apiVersion: 'meta.k8s.io/v1',
      ...(asked.length > 0 ? { dryRun: ['All'] } : {}),
      ...(fieldManager === null ? {} : { fieldManager }),
    },
  }
}

function bodyObject({ body, type, contentType }: ApiRequest): NewObject {
  // Go clients may speak protobuf, which is not served here.
  if (contentType !== '' && contentType !== 'application/json') throw unsupportedMediaType()
  const unrecognized = `the object provided is unrecognized (must be of type ${type.kind})`
  if (!isJsonObject(body)) throw badRequest(`${unrecognized}: couldn't get version/kind; json parse error`)
  const kind = stringOf(body, 'kind') ?? type.kind
  if (kind !== type.kind) throw badRequest(`${unrecognized}: ${kind}`)
  return { ...body, metadata: childOf(body, 'metadata') }
}

function shown({ type }: ApiRequest, object: KubeObject): KubeObject {
  return shownAs(type, object)
}

function stored({ type }: ApiRequest, object: NewObject): NewObject {
  requireMicroTimes(type, object as KubeObject)
  return type.toStored?.(object as KubeObject) ?? object
}
