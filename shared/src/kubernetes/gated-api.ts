import type { ClusterCallOptions } from '../tagger/ports.ts'
import type { ApiRequest, ApiTransport } from './api-request.ts'
import type { CallGate } from './call-gate.ts'

export type GatedRequest = Omit<ApiRequest, 'signal'>

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

  call(request: GatedRequest, { signal, priority }: ClusterCallOptions): Promise<unknown> {
    return this.#gate.run(() => this.#transport.send({ ...request, signal }), { signal, priority })
  }
}
