import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import { namespacesPath } from '@k8s-cloud-tagger/shared/kubernetes/api-request.ts'
import type { ApiTransport } from '@k8s-cloud-tagger/shared/kubernetes/api-request.ts'
import { collectionSource } from '@k8s-cloud-tagger/shared/kubernetes/collection-source.ts'
import { decodeNamespace } from '@k8s-cloud-tagger/shared/kubernetes/decode.ts'
import type { ApiCaller } from '@k8s-cloud-tagger/shared/kubernetes/gated-api.ts'
import { Reflector } from '@k8s-cloud-tagger/shared/kubernetes/reflector.ts'
import { Allowance } from '@k8s-cloud-tagger/shared/queue/allowance.ts'
import { pause } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Logger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import type { Random } from '@k8s-cloud-tagger/shared/runtime/random.ts'
import type { ClusterCallOptions, ClusterReader } from '@k8s-cloud-tagger/shared/tagger/ports.ts'

/** How long an answer waits for a namespace that the watch has not shown yet; the API server gives up after two seconds. */
const lookUpLimitMs = 500
/** Whoever calls us is anonymous and may name what namespaces they like: few of them are looked for. */
const lookUps = { burst: 50, perSecond: 10 }
/** A watch is asked again after two silent minutes; one that five bring nothing from is beyond its own help. */
const silentLimitMs = 300_000

export interface NamespacesDeps {
  readonly api: ApiCaller
  readonly connection: ApiTransport
  readonly reader: Pick<ClusterReader, 'namespace'>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/**
 * The labels of all namespaces, from a watch: the only thing that the webhook keeps of a cluster, and only where a rule
 * reads them. A namespace that was made a moment ago, which the watch has not shown yet, is asked for once.
 */
export class Namespaces {
  readonly #deps: NamespacesDeps
  readonly #known = new Map<string, NamespaceInfo>()
  readonly #reflector: Reflector<NamespaceInfo>
  /** One call for all the claims that come with a new namespace. */
  readonly #underWay = new Map<string, Promise<NamespaceInfo | undefined>>()
  readonly #allowance: Allowance<'all'>

  constructor(deps: NamespacesDeps) {
    const { api, connection: transport, clock, random, logger } = deps
    this.#deps = deps
    this.#allowance = new Allowance({ clock, ...lookUps })
    const keep = (namespace: NamespaceInfo) => void this.#known.set(namespace.name, namespace)
    this.#reflector = new Reflector({
      name: 'namespaces',
      source: collectionSource({ api, transport, path: namespacesPath }),
      decode: decodeNamespace,
      store: {
        onAdd: keep,
        onUpdate: keep,
        onDelete: ({ name }) => void this.#known.delete(name),
        onSynced: () => {},
      },
      clock,
      random,
      logger,
    })
  }

  start(): void {
    this.#reflector.start()
  }

  stop(): Promise<void> {
    return this.#reflector.stop()
  }

  /** Faults after which the watch was taken up again. */
  get restarts(): number {
    return this.#reflector.status.restarts
  }

  /** Undefined once all have been read. */
  get notReady(): string | undefined {
    return this.#reflector.status.synced ? undefined : 'webhook: namespaces are not all read yet'
  }

  /** A reason why only a restart can help. */
  get stuck(): string | undefined {
    const { lastEventAgeMs } = this.#reflector.status
    if (lastEventAgeMs <= silentLimitMs) return undefined
    return `watch of namespaces: nothing heard for ${Math.round(lastEventAgeMs / 1000)} s`
  }

  /** For an answer: never rejects, and waits only for a namespace that is not known yet, half a second at the most. */
  async find(name: string): Promise<NamespaceInfo | undefined> {
    const known = this.#known.get(name) ?? this.#underWay.get(name)
    if (known !== undefined) return known
    if (!this.#allowance.take('all')) return undefined
    const lookUp = this.#lookUp(name).finally(() => this.#underWay.delete(name))
    this.#underWay.set(name, lookUp)
    return lookUp
  }

  /** What the workers read by: namespaces from here where they are known, everything else, and new ones, live. */
  readerOver(live: ClusterReader): ClusterReader {
    return {
      claim: (key, options) => live.claim(key, options),
      volume: (name, options) => live.volume(name, options),
      namespace: async (name: string, options: ClusterCallOptions) =>
        this.#known.get(name) ?? live.namespace(name, options),
    }
  }

  async #lookUp(name: string): Promise<NamespaceInfo | undefined> {
    const { clock, reader, logger } = this.#deps
    const givenUp = new AbortController()
    const answered = new AbortController()
    const call = reader.namespace(name, { signal: givenUp.signal, priority: 'foreground' }).catch((error: unknown) => {
      logger.debug({ namespace: name, err: error }, 'a namespace could not be looked up')
      return undefined
    })
    const late = pause(clock, lookUpLimitMs, answered.signal).then(() => undefined)
    const found = await Promise.race([call, late])
    answered.abort()
    givenUp.abort()
    return found
  }
}
