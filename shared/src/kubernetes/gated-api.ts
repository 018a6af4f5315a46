import type { ClusterCallOptions } from '../tagger/ports.ts'
import type { ApiRequest, ApiTransport } from './api-request.ts'
import type { CallGate } from './call-gate.ts'

export type GatedRequest = Omit<ApiRequest, 'signal' | 'body'> & {
  /** A function is asked when the request's turn has come; what it throws is what the call fails with, unsent. */
  readonly body?: unknown
}

/** Calls that take their turn. Everything thrown is a KubernetesError. */
export interface ApiCaller {
  call(request: GatedRequest, options: ClusterCallOptions): Promise<unknown>
}

/**
 * Every call but watches and lease renewals goes through here: a watch would hold its place for minutes, and a renewal
 * that waits out a pause loses the lease.
 */
export class GatedApi implements ApiCaller {
  readonly #transport: ApiTransport
  readonly #gate: CallGate

  constructor(deps: { readonly transport: ApiTransport; readonly gate: CallGate }) {
    this.#transport = deps.transport
    this.#gate = deps.gate
  }

  call({ body, ...request }: GatedRequest, { signal, priority }: ClusterCallOptions): Promise<unknown> {
    const send = async () => {
      const now: unknown = typeof body === 'function' ? body() : body
      return this.#transport.send({ ...request, ...(now !== undefined && { body: now }), signal })
    }
    return this.#gate.run(send, { signal, priority })
  }
}
