import type { IncomingMessage } from 'node:http'
import type { AcceptedCall, CloudService, Refusal } from '../cloud-fake/call-handler.ts'
import type { HttpAnswer } from '../cloud-fake/http.ts'
import type { DiskActions } from './disk-actions.ts'
import type { OwnFault } from './faults.ts'
import type { Identity } from './identity.ts'
import type { RecordedCall } from './recorded-call.ts'
import { checkRequest } from './request-schema.ts'
import { ComputeRefusal, internal, rateLimitExceeded, unauthenticated, type ComputeRequest } from './wire.ts'

export interface ComputeServiceParts {
  readonly actions: DiskActions
  readonly identity: Identity
  readonly requireToken: boolean
}

const json = 'application/json; charset=UTF-8'

/** Compute Engine's disks by REST. */
export class ComputeService implements CloudService<ComputeRequest, RecordedCall, OwnFault> {
  readonly #parts: ComputeServiceParts
  readonly garbage: HttpAnswer = { status: 200, type: json, body: '<html><title>Error 502 (Server Error)!!1</title>' }
  /** Whether errors carry `details` with an ErrorInfo, as newer front ends send them. */
  errorDetails = true

  constructor(parts: ComputeServiceParts) {
    this.#parts = parts
  }

  record({ headers, method, url }: IncomingMessage, request: ComputeRequest, atMs: number): RecordedCall {
    const { body, fields, operation, parent, resource } = request
    return {
      atMs,
      operation,
      method: method ?? '',
      path: url ?? '',
      disk: resource === undefined || operation.includes('Operations.') ? undefined : `${parent}/disks/${resource}`,
      body,
      fieldMask: fields,
      authorization: headers.authorization,
      outcome: undefined,
      endedAtMs: undefined,
    }
  }

  admit({ headers, method = 'GET', url = '/' }: IncomingMessage, request: ComputeRequest): void {
    const { actions, identity, requireToken } = this.#parts
    if (requireToken && !identity.isValid(headers.authorization)) throw unauthenticated()
    const path = decodeURIComponent(new URL(url, 'http://fake').pathname)
    checkRequest({ ...request, method, path, fieldMask: request.fields })
    actions.admit(request)
  }

  accept(request: ComputeRequest): AcceptedCall {
    const { answer, effect } = this.#parts.actions.accept(request)
    return { effect, answer: { status: 200, type: json, body: answer } }
  }

  refusal(error: unknown): Refusal {
    const refused = error instanceof ComputeRefusal ? error : internal(String(error))
    const { retryAfterSeconds, status } = refused.options
    const headers = retryAfterSeconds === undefined ? {} : { headers: { 'Retry-After': String(retryAfterSeconds) } }
    return {
      outcome: refused.outcome,
      answer: { status, type: json, body: refused.body(this.errorDetails), ...headers },
    }
  }

  throttled(_: ComputeRequest, retryAfterSeconds: number | undefined): ComputeRefusal {
    return rateLimitExceeded(retryAfterSeconds)
  }

  suffer(fault: OwnFault, request: ComputeRequest): Refusal {
    if (fault.kind === 'error') throw new ComputeRefusal(fault.message ?? `${fault.reason} was asked for`, fault)
    const body = this.#parts.actions.operationJson(request, fault)
    return { outcome: 'ok', answer: { status: 200, type: json, body } }
  }
}
