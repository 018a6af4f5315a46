import { mkdir, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../src/runtime/clock.ts'
import { isoTimestamp } from '../../src/runtime/timestamps.ts'
import { CertificateAuthority, type KeyAndCertificate } from '../certificates.ts'
import type { ApiRequest } from './api-request.ts'
import { bindClaim, claimPlace, writeContext } from './binding.ts'
import { boundPair, claimBody, type ClaimSpec, volumeBody, type VolumeSpec } from './bodies.ts'
import { type FaultEffect, Faults } from './faults.ts'
import { HttpFront, type RequestHook } from './http-front.ts'
import { InFlightLimit } from './in-flight-limit.ts'
import { kubeconfig } from './kubeconfig.ts'
import { ListPages } from './list-pages.ts'
import { applyMergePatch } from './merge-patch.ts'
import { type JsonObject, type KubeObject, type NewObject, storeKey, stringOf } from './objects.ts'
import type { Place } from './place.ts'
import { Registry } from './registry.ts'
import { RequestLog } from './request-log.ts'
import { handleResource } from './resource-handler.ts'
import { selectionOf } from './list-answer.ts'
import { findResourceType, type ResourceType, resourceTypeNamed } from './resource-types.ts'
import { type NewUser, type UserInfo, Users } from './users.ts'
import {
  type ProvisionedDisk,
  provisionVolume,
  VolumeController,
  type VolumeControllerOptions,
} from './volume-controller.ts'
import { type WatchSettings, WatchStream } from './watch-stream.ts'
import { OpenWatches } from './open-watches.ts'
import { WebhookAdmission, type WebhookCounts } from './webhook-admission.ts'
import { type ServiceAddress, WebhookCaller } from './webhook-caller.ts'
import type { MatchCondition } from './webhook-matching.ts'

export interface EmbeddedOptions {
  readonly clock?: Clock
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** `admin`, who may do everything, is always there. */
  readonly users?: readonly NewUser[]
  /** Writes kept for watches of each resource; older versions get 410. Default 10,000. */
  readonly historySize?: number
  /** Default 60,000, as on the API server. */
  readonly bookmarkIntervalMs?: number
  /** Default false: sendInitialEvents is refused as by a server without WatchList. */
  readonly watchList?: boolean
  /** Default false: a forgotten version is told by an ERROR event, as on the API server. */
  readonly goneAsHttpStatus?: boolean
  /** Calls in flight, watches apart, beyond which a user gets 429. Default: no limit. */
  readonly maxInFlightPerUser?: number
  /** Requests kept in `log.entries`. Default 1,000. */
  readonly logSize?: number
  /** The binder and its neighbours; without them nothing binds by itself and nothing is protected by a finalizer. */
  readonly volumeController?: VolumeControllerOptions
  /** Where Services that webhook configurations name are to be found, by `<name>.<namespace>`; see `mapService`. */
  readonly services?: Readonly<Record<string, ServiceAddress>>
  /** Answers for CEL in `matchConditions`. Default: everything is true. */
  readonly matchCondition?: MatchCondition
}

const admin: UserInfo = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }

/**
 * A Kubernetes API server in this process, for programs that are not to notice the difference. It serves what
 * `resource-types.ts` lists, over HTTPS on 127.0.0.1, and forgets everything when it stops.
 */
export class EmbeddedKubernetes {
  readonly users = new Users()
  readonly faults = new Faults()
  readonly log: RequestLog
  readonly limit: InFlightLimit
  readonly watches: OpenWatches
  readonly #authority: CertificateAuthority
  readonly #front: HttpFront
  readonly #registry: Registry
  readonly #pages = new ListPages()
  readonly #hooks = new Set<RequestHook>()
  readonly #services: Map<string, ServiceAddress>
  readonly #caller: WebhookCaller
  readonly #admission: WebhookAdmission
  readonly #volumeController: VolumeController | undefined
  readonly #clock: Clock
  readonly #watchSettings: WatchSettings
  #port = 0

  static async start(options: EmbeddedOptions = {}): Promise<EmbeddedKubernetes> {
    const authority = await CertificateAuthority.create('embedded kubernetes')
    const identity = await authority.issue(['localhost', '127.0.0.1', 'kubernetes.default.svc'])
    const server = new EmbeddedKubernetes(options, authority, identity)
    for (const name of ['default', 'kube-system']) await server.createNamespace(name)
    server.#volumeController?.start()
    server.#port = await server.#front.listen(options.port ?? 0)
    return server
  }

  private constructor(options: EmbeddedOptions, authority: CertificateAuthority, identity: KeyAndCertificate) {
    this.#authority = authority
    this.#clock = options.clock ?? systemClock
    this.log = new RequestLog(options.logSize ?? 1000)
    this.limit = new InFlightLimit(options.maxInFlightPerUser)
    this.#watchSettings = {
      bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
      watchList: options.watchList ?? false,
      goneAsHttpStatus: options.goneAsHttpStatus ?? false,
    }
    this.#services = new Map(Object.entries(options.services ?? {}))
    this.#caller = new WebhookCaller(this.#clock, this.#services)
    this.#admission = new WebhookAdmission(this.#caller, {
      configurations: (mutating) =>
        this.list(mutating ? 'mutatingwebhookconfigurations' : 'validatingwebhookconfigurations'),
      namespaceLabels: (namespace) => this.get('namespaces', namespace)?.metadata.labels ?? {},
      matchCondition: options.matchCondition ?? (() => true),
    })
    this.#registry = new Registry({
      clock: this.#clock,
      admission: this.#admission,
      historySize: options.historySize ?? 10_000,
      protects: options.volumeController !== undefined,
    })
    this.watches = new OpenWatches(this.#registry.counter)
    this.#volumeController =
      options.volumeController && new VolumeController(this.#registry, this.#clock, options.volumeController)
    this.users.add({ name: admin.username, groups: ['system:masters'] })
    for (const user of options.users ?? []) this.users.add(user)
    this.#front = new HttpFront(
      {
        clock: this.#clock,
        users: this.users,
        faults: this.faults,
        limit: this.limit,
        log: this.log,
        hooks: this.#hooks,
        handle: (request, warnings) => handleResource(request, this.#registry, this.#pages, warnings),
        watch: (request, response) => this.#watch(request, response),
      },
      identity,
    )
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`
  }

  /** In PEM. */
  get caCertificate(): string {
    return this.#authority.certificate
  }

  /** TLS connections accepted so far: shows whether a client pools them. */
  get connections(): number {
    return this.#front.connections
  }

  /** Writes `<folder>/<user>.kubeconfig`, with colons of the name replaced, and gives its path. */
  async kubeconfigFor(user: string, folder: string): Promise<string> {
    const path = join(folder, `${user.replaceAll(':', '-')}.kubeconfig`)
    await mkdir(folder, { recursive: true })
    await writeFile(path, this.kubeconfigText(user), { mode: 0o600 })
    return path
  }

  kubeconfigText(user: string): string {
    return kubeconfig({ url: this.url, caCertificate: this.caCertificate, user, token: this.users.tokenOf(user) })
  }

  /** Says where a Service that a webhook configuration names is to be found. */
  mapService(namespace: string, name: string, address: ServiceAddress): void {
    this.#services.set(`${name}.${namespace}`, address)
  }

  webhookCounts(webhook: string): Readonly<WebhookCounts> {
    return this.#admission.countsOf(webhook)
  }

  /** The next `times` requests that match suffer this. */
  failNext(times: number, matches: (request: ApiRequest) => boolean, effect: FaultEffect): void {
    this.faults.add(times, matches, effect)
  }

  /** Called with every request for a resource, and awaited. Returns how to take the hook off. */
  onRequest(hook: RequestHook): () => void {
    this.#hooks.add(hook)
    return () => void this.#hooks.delete(hook)
  }

  /** Forgets history and list snapshots: every older version and every continue token gets 410 from now on. */
  compact(): void {
    this.#registry.counter.next()
    for (const store of this.#registry.stores()) store.compact()
    this.#pages.forget()
  }

  /** The state as stored, not to be changed. `resource` is a plural; events are shown as events.k8s.io/v1. */
  get(resource: string, name: string, namespace?: string): KubeObject | undefined {
    return this.#registry.storeOf(resourceTypeNamed(resource)).get(storeKey(namespace, name))
  }

  list(resource: string, namespace?: string): readonly KubeObject[] {
    return this.#registry.storeOf(resourceTypeNamed(resource)).list(namespace)
  }

  /** All Events, as events.k8s.io/v1, oldest first. */
  events(namespace?: string): readonly KubeObject[] {
    return [...this.list('events', namespace)].sort(
      (a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion),
    )
  }

  /** Writes as `admin`, here and below; webhooks are asked as for any other write. */
  create(resource: string, body: NewObject, namespace?: string): Promise<KubeObject> {
    return this.#registry.create(typeOf(resource, body), namespace, body, writeContext(admin, 'CreateOptions'))
  }

  async createNamespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<KubeObject> {
    return this.create('namespaces', { metadata: { name, labels: { ...labels } } })
  }

  async createClaim(claim: ClaimSpec): Promise<KubeObject> {
    const namespace = claim.namespace ?? 'default'
    if (this.get('namespaces', namespace) === undefined) await this.createNamespace(namespace)
    return this.create('persistentvolumeclaims', claimBody(claim), namespace)
  }

  createVolume(volume: VolumeSpec): Promise<KubeObject> {
    return this.create('persistentvolumes', volumeBody(volume))
  }

  /** Makes the volume of a claim as a CSI provisioner would; the volume controller, or `bind`, binds it. */
  provision(namespace: string, name: string, disk: ProvisionedDisk): Promise<KubeObject> {
    return provisionVolume(this.#registry, this.#registry.get(claimPlace(namespace, name)), disk)
  }

  /** Binds by hand, with the controller's own writes; for use without a volume controller. */
  bind(namespace: string, name: string, volumeName: string): Promise<void> {
    return bindClaim(this.#registry, this.#registry.get(claimPlace(namespace, name)), volumeName)
  }

  /** Puts a bound claim and its volume in place at once, past admission and controllers: for filling a cluster. */
  seedBoundClaim(claim: ClaimSpec, handle: string): { readonly claim: KubeObject; readonly volume: KubeObject } {
    const createdAt = isoTimestamp(this.#clock.wallMs()).replace(/\.\d+Z$/, 'Z')
    const pair = boundPair(claim, handle, createdAt)
    return {
      volume: this.#registry.storeOf(resourceTypeNamed('persistentvolumes')).put(pair.volume),
      claim: this.#registry.storeOf(resourceTypeNamed('persistentvolumeclaims')).put(pair.claim),
    }
  }

  /** A merge patch: null removes a field. */
  patch(resource: string, patch: JsonObject, name: string, namespace?: string): Promise<KubeObject> {
    const place: Place = { type: resourceTypeNamed(resource), namespace, name, subresource: '' }
    const change = (current: KubeObject): KubeObject => applyMergePatch(current, patch) as KubeObject
    return this.#registry.update(place, change, writeContext(admin))
  }

  /** Adds or replaces labels of a claim, leaving the others. */
  setLabels(namespace: string, name: string, labels: Readonly<Record<string, string>>): Promise<KubeObject> {
    return this.patch('persistentvolumeclaims', { metadata: { labels } }, name, namespace)
  }

  removeLabel(namespace: string, name: string, label: string): Promise<KubeObject> {
    return this.patch('persistentvolumeclaims', { metadata: { labels: { [label]: null } } }, name, namespace)
  }

  delete(resource: string, name: string, namespace?: string): Promise<KubeObject> {
    const place: Place = { type: resourceTypeNamed(resource), namespace, name, subresource: '' }
    return this.#registry.delete(place, {}, writeContext(admin, 'DeleteOptions'))
  }

  async stop(): Promise<void> {
    this.#volumeController?.stop()
    this.watches.end()
    await this.#front.close()
    this.#caller.close()
  }

  #watch(request: ApiRequest, response: ServerResponse): Promise<void> {
    return this.watches.run(
      new WatchStream({
        request,
        response,
        store: this.#registry.storeOf(request.type),
        counter: this.#registry.counter,
        selects: selectionOf(request).selects,
        clock: this.#clock,
      }),
      this.#watchSettings,
    )
  }
}

/** Two groups serve events; the body says which form it has. */
function typeOf(resource: string, body: NewObject): ResourceType {
  const [group, version] = (stringOf(body, 'apiVersion') ?? '').split('/')
  const named = group !== undefined && version !== undefined ? findResourceType(group, version, resource) : undefined
  return named ?? resourceTypeNamed(resource)
}
