import { randomUUID } from 'node:crypto'
import type { Admission, AdmissionRequest } from './admission.ts'
import { ApiStatusError, internalError } from './api-status.ts'
import { applyJsonPatch } from './json-patch.ts'
import { childOf, isJsonObject, type JsonObject, type KubeObject, stringOf, withoutBlanks } from './objects.ts'
import type { WebhookCaller } from './webhook-caller.ts'
import { type MatchCondition, webhookMatches } from './webhook-matching.ts'

/** What happened to the calls of one webhook, by its name. */
export interface WebhookCounts {
  /** Calls made, whatever came of them. */
  calls: number
  /** Failed calls that failurePolicy Ignore passed over. */
  failedOpen: number
  /** Failed calls for which failurePolicy Fail refused the write. */
  failedClosed: number
  /** Answers with `allowed: false`. */
  denied: number
  /** Writes that the rules took in and matchConditions kept away. */
  excluded: number
}

export interface WebhookSources {
  /** Present configurations of one kind. */
  readonly configurations: (mutating: boolean) => readonly KubeObject[]
  readonly namespaceLabels: (namespace: string) => Readonly<Record<string, string>>
  readonly matchCondition: MatchCondition
}

/** A call that gave no usable answer: what failurePolicy decides about. */
class FailedCall extends Error {
  override readonly name = 'FailedCall'
}

/** The admission phases of kube-apiserver 1.34, without reinvocation and without conversion between versions. */
export class WebhookAdmission implements Admission {
  readonly #caller: WebhookCaller
  readonly #sources: WebhookSources
  readonly #counts = new Map<string, WebhookCounts>()

  constructor(caller: WebhookCaller, sources: WebhookSources) {
    this.#caller = caller
    this.#sources = sources
  }

  countsOf(webhook: string): Readonly<WebhookCounts> {
    return this.#mutableCounts(webhook)
  }

  async mutate(request: AdmissionRequest & { readonly object: KubeObject }): Promise<KubeObject>
  async mutate(request: AdmissionRequest): Promise<KubeObject | undefined>
  async mutate(request: AdmissionRequest): Promise<KubeObject | undefined> {
    let { object } = request
    for (const webhook of this.#webhooks(true)) {
      const present = { ...request, object }
      const patch = await this.#ask(webhook, present, true)
      if (patch !== undefined) object = applyWebhookPatch(present, patch)
    }
    return object
  }

  async validate(request: AdmissionRequest): Promise<void> {
    const asked = this.#webhooks(false).map((webhook) => this.#ask(webhook, request, false))
    const outcomes = await Promise.allSettled(asked)
    const refused = outcomes.find((outcome) => outcome.status === 'rejected')
    if (refused !== undefined) throw refused.reason
  }

  /** In the order of calls: configurations by name, webhooks as they are listed. */
  #webhooks(mutating: boolean): JsonObject[] {
    return this.#sources
      .configurations(mutating)
      .flatMap((configuration) => (Array.isArray(configuration['webhooks']) ? configuration['webhooks'] : []))
      .filter(isJsonObject)
  }

  /** The patch of a mutating webhook, if it gave one. Throws to refuse the write. */
  async #ask(webhook: JsonObject, request: AdmissionRequest, mutating: boolean): Promise<unknown> {
    const namespaceLabels =
      request.namespace === undefined ? undefined : this.#sources.namespaceLabels(request.namespace)
    if (!webhookMatches(webhook, request, namespaceLabels)) return undefined
    const name = stringOf(webhook, 'name') ?? ''
    const counts = this.#mutableCounts(name)
    try {
      const review = toReview(request)
      if (!this.#conditionsHold(webhook, request, review)) {
        counts.excluded++
        return undefined
      }
      if (request.dryRun && !sideEffectFree.has(stringOf(webhook, 'sideEffects') ?? '')) throw unfitForDryRun(name)
      counts.calls++
      const response = await this.#call(webhook, review, mutating)
      collectWarnings(response, request)
      if (response['allowed'] === true) return decodePatch(response)
      counts.denied++
      throw denial(name, response)
    } catch (error) {
      if (!(error instanceof FailedCall)) throw error
      if (webhook['failurePolicy'] === 'Ignore') {
        counts.failedOpen++
        return undefined
      }
      counts.failedClosed++
      throw internalError(`failed calling webhook "${name}": ${error.message}`)
    }
  }

  #conditionsHold(webhook: JsonObject, request: AdmissionRequest, review: JsonObject): boolean {
    const conditions: readonly unknown[] = Array.isArray(webhook['matchConditions']) ? webhook['matchConditions'] : []
    const { object, oldObject } = request
    const context = { object, oldObject, request: childOf(review, 'request') }
    try {
      return conditions
        .filter(isJsonObject)
        .every((condition) => this.#sources.matchCondition(stringOf(condition, 'expression') ?? '', context))
    } catch (error) {
      throw new FailedCall(`failed to evaluate match conditions: ${String(error)}`)
    }
  }

  async #call(webhook: JsonObject, review: JsonObject, mutating: boolean): Promise<JsonObject> {
    const timeoutSeconds = typeof webhook['timeoutSeconds'] === 'number' ? webhook['timeoutSeconds'] : 10
    let answer: JsonObject
    try {
      answer = await this.#caller.call(childOf(webhook, 'clientConfig'), timeoutSeconds, review)
    } catch (error) {
      throw new FailedCall(`failed to call webhook: ${error instanceof Error ? error.message : String(error)}`)
    }
    return requireValidResponse(answer, stringOf(childOf(review, 'request'), 'uid') ?? '', mutating)
  }

  #mutableCounts(webhook: string): WebhookCounts {
    const known = this.#counts.get(webhook)
    if (known !== undefined) return known
    const counts = { calls: 0, failedOpen: 0, failedClosed: 0, denied: 0, excluded: 0 }
    this.#counts.set(webhook, counts)
    return counts
  }
}

const sideEffectFree: ReadonlySet<string> = new Set(['None', 'NoneOnDryRun'])

function toReview(request: AdmissionRequest): JsonObject {
  const { type, subresource, name, namespace, operation, user, object, oldObject, dryRun, options } = request
  const { group, version, kind, plural } = type
  // A Namespace counts as being in itself.
  const shownNamespace = kind === 'Namespace' ? name : (namespace ?? '')
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: randomUUID(),
      kind: { group, version, kind },
      resource: { group, version, resource: plural },
      ...(subresource === '' ? {} : { subResource: subresource }),
      requestKind: { group, version, kind },
      requestResource: { group, version, resource: plural },
      ...(subresource === '' ? {} : { requestSubResource: subresource }),
      ...(name === '' ? {} : { name }),
      ...(shownNamespace === '' ? {} : { namespace: shownNamespace }),
      operation,
      userInfo: user,
      object: object === undefined ? null : withoutBlanks(object),
      oldObject: oldObject === undefined ? null : withoutBlanks(oldObject),
      dryRun,
      options,
    },
  }
}

function requireValidResponse(answer: JsonObject, uid: string, mutating: boolean): JsonObject {
  if (answer['apiVersion'] !== 'admission.k8s.io/v1' || answer['kind'] !== 'AdmissionReview') {
    throw new FailedCall(
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview',
    )
  }
  const response = answer['response']
  if (!isJsonObject(response)) throw new FailedCall('received invalid webhook response: webhook response was absent')
  if (response['uid'] !== uid) {
    throw new FailedCall(
      `received invalid webhook response: expected response.uid="${uid}", got ${JSON.stringify(response['uid'])}`,
    )
  }
  const patched = stringOf(response, 'patch') !== undefined
  const typed = stringOf(response, 'patchType') !== undefined
  if (!mutating && (patched || typed)) {
    throw new FailedCall('received invalid webhook response: validating webhook may not return response.patch')
  }
  if (patched !== typed || (typed && response['patchType'] !== 'JSONPatch')) {
    throw new FailedCall('received invalid webhook response: response.patch and response.patchType must come together')
  }
  return response
}

function collectWarnings(response: JsonObject, request: AdmissionRequest): void {
  if (!Array.isArray(response['warnings'])) return
  request.warnings.push(...response['warnings'].filter((warning) => typeof warning === 'string'))
}

function decodePatch(response: JsonObject): unknown {
  const encoded = stringOf(response, 'patch')
  if (encoded === undefined) return undefined
  try {
    return JSON.parse(Buffer.from(encoded, 'base64').toString())
  } catch {
    throw new FailedCall('received undecodable patch')
  }
}

/** A patch that does not apply is an internal error whatever failurePolicy says. */
function applyWebhookPatch({ object }: AdmissionRequest, patch: unknown): KubeObject {
  if (object === undefined) {
    throw internalError('webhook attempted to modify the object, which is not supported for this operation')
  }
  try {
    return applyJsonPatch(object, patch) as KubeObject
  } catch {
    throw internalError('the patch of a mutating webhook does not apply: doc is missing path: missing value')
  }
}

function denial(name: string, response: JsonObject): ApiStatusError {
  const status = childOf(response, 'status')
  const code = typeof status['code'] === 'number' && status['code'] >= 400 ? status['code'] : 400
  const message = stringOf(status, 'message') ?? stringOf(status, 'reason')
  const explained = message === undefined ? 'denied the request without explanation' : `denied the request: ${message}`
  return new ApiStatusError(code, stringOf(status, 'reason') ?? '', `admission webhook "${name}" ${explained}`)
}

function unfitForDryRun(name: string): ApiStatusError {
  return new ApiStatusError(400, 'BadRequest', `admission webhook "${name}" does not support dry run`)
}
