import { leasePath, leasesPath, type ApiTransport } from './api-request.ts'
import { asObject, numberAt, objectAt, stringAt, type JsonObject } from './json.ts'
import { KubernetesError } from './kubernetes-error.ts'
import { microTime } from './micro-time.ts'

export interface LeaseCallOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** A coordination.k8s.io/v1 Lease, whole: what we do not know goes back to the server as it came. */
export interface Lease {
  readonly raw: JsonObject
  /** Undefined where it was released. */
  readonly holder: string | undefined
  readonly durationMs: number
  readonly transitions: number
  readonly annotations: Readonly<Record<string, unknown>>
}

export interface LeaseHolding {
  /** Empty to release it. */
  readonly holder: string
  readonly durationMs: number
  readonly nowWallMs: number
  readonly annotations?: Readonly<Record<string, string>>
}

/** Everything thrown is a KubernetesError; 'conflict' where somebody else wrote first. */
export class LeaseClient {
  readonly #transport: ApiTransport
  readonly #namespace: string
  readonly #name: string

  constructor(options: { readonly transport: ApiTransport; readonly namespace: string; readonly name: string }) {
    this.#transport = options.transport
    this.#namespace = options.namespace
    this.#name = options.name
  }

  async get(options: LeaseCallOptions): Promise<Lease | undefined> {
    try {
      return leaseOf(await this.#transport.send({ method: 'GET', path: this.#path(), ...options }))
    } catch (error) {
      if (error instanceof KubernetesError && error.kind === 'not-found') return undefined
      throw error
    }
  }

  async create(holding: LeaseHolding, options: LeaseCallOptions): Promise<Lease> {
    const body = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: this.#name, namespace: this.#namespace, annotations: { ...holding.annotations } },
      spec: specOf(holding, undefined),
    }
    return leaseOf(await this.#transport.send({ method: 'POST', path: leasesPath(this.#namespace), body, ...options }))
  }

  /** Conditional on the resource version of `seen`: annotations that others write are never lost. */
  async update(seen: Lease, holding: LeaseHolding, options: LeaseCallOptions): Promise<Lease> {
    const metadata = objectAt(seen.raw, 'metadata')
    const body = {
      ...seen.raw,
      metadata: { ...metadata, annotations: { ...seen.annotations, ...holding.annotations } },
      spec: { ...objectAt(seen.raw, 'spec'), ...specOf(holding, seen) },
    }
    return leaseOf(await this.#transport.send({ method: 'PUT', path: this.#path(), body, ...options }))
  }

  #path(): string {
    return leasePath(this.#namespace, this.#name)
  }
}

function specOf(holding: LeaseHolding, seen: Lease | undefined): JsonObject {
  const now = microTime(holding.nowWallMs)
  const changed = seen?.holder !== holding.holder
  return {
    holderIdentity: holding.holder,
    leaseDurationSeconds: Math.max(1, Math.round(holding.durationMs / 1000)),
    renewTime: now,
    ...(changed ? { acquireTime: now } : {}),
    // Counted when it is taken, as client-go does, not when it is given back.
    leaseTransitions: (seen?.transitions ?? 0) + (seen !== undefined && changed && holding.holder !== '' ? 1 : 0),
  }
}

function leaseOf(object: unknown): Lease {
  const raw = asObject(object)
  const spec = objectAt(raw, 'spec')
  if (raw === undefined || objectAt(raw, 'metadata') === undefined) {
    throw new KubernetesError('unavailable', 'the answer is no Lease')
  }
  return {
    raw,
    holder: stringAt(spec, 'holderIdentity'),
    durationMs: (numberAt(spec, 'leaseDurationSeconds') ?? 0) * 1000,
    transitions: numberAt(spec, 'leaseTransitions') ?? 0,
    annotations: objectAt(objectAt(raw, 'metadata'), 'annotations') ?? {},
  }
}
