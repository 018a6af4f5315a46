import type { GcpDiskName, GcpPlace } from '../../claims/gcp-disk.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import type { ObservedTags } from '../provider.ts'
import { DefaultCredentials, type Credentials } from './credentials.ts'
import { DisksClient } from './disks-client.js'
import { FailedOperation, toProviderError } from './errors.ts'
import type { RegionDisksClient } from './region-disks-client.js'
import { ProxiedSender, type ProxyEnv } from './request-sender.ts'
import type { CallOptions, ClientOptions, DiskResource, ListParameters, Operation } from './sdk-types.ts'

/** Where disks are listed: one zone or region of one project. */
export interface DiskFolder {
  readonly project: string
  readonly place: GcpPlace
}

export interface DiskQuery {
  readonly filter?: string | undefined
  readonly pageToken?: string | undefined
}

export interface ListedDisk {
  readonly name: string
  readonly observed: ObservedTags
}

export interface DiskPage {
  readonly disks: readonly ListedDisk[]
  readonly nextToken: string | undefined
}

export interface LabelSet {
  readonly labels: TagSet
  /** Of the set that this one replaces. */
  readonly fingerprint: string
}

/** The calls that we make, each exactly once, in our own terms. They throw ProviderError. No project is unspecified. */
export interface ComputeApi {
  getDisk(disk: GcpDiskName, signal: AbortSignal): Promise<ObservedTags>
  listDisks(folder: DiskFolder, query: DiskQuery, signal: AbortSignal): Promise<DiskPage>
  /** Resolves when the write was accepted; it takes effect a moment later. */
  setLabels(disk: GcpDiskName, set: LabelSet, signal: AbortSignal): Promise<void>
  /** The project that we run in. */
  projectId(): Promise<string>
  close(): void
}

export interface ComputeApiOptions {
  readonly clock: Clock
  readonly callTimeoutMs: number
  /** Where it is missing, Google's own. Plain http only on loopback: the token goes with every request. */
  readonly endpoint?: string | undefined
  /** Where they are missing, Application Default Credentials. */
  readonly credentials?: Credentials | undefined
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY, of either case; without it every connection is direct. */
  readonly proxyEnv?: ProxyEnv | undefined
}

/** Throws for an endpoint that cannot be used. Makes no call: credentials are looked for with the first one. */
export function createComputeApi(options: ComputeApiOptions): ComputeApi {
  const { callTimeoutMs, clock, proxyEnv } = options
  const address = options.endpoint === undefined ? {} : addressOf(options.endpoint)
  // Before the call that waits for them is given up, so that the reason is told.
  const timeoutMs = Math.ceil(callTimeoutMs * 0.9)
  const credentials = options.credentials ?? new DefaultCredentials({ clock, timeoutMs })
  return new SdkComputeApi({
    address,
    callTimeoutMs,
    clock,
    credentials,
    sender: new ProxiedSender({ credentials, proxyEnv }),
  })
}

type Address = Pick<ClientOptions, 'apiEndpoint' | 'port' | 'protocol'>

function addressOf(endpoint: string): Address {
  const url = URL.parse(endpoint)
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/') {
    throw new Error(`gcp.endpoint must be http(s)://host[:port], not ${JSON.stringify(endpoint)}`)
  }
  const secure = url.protocol === 'https:'
  if (!secure && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) {
    throw new Error(
      `gcp.endpoint must be https, or on loopback: ${JSON.stringify(endpoint)} would send the token in the clear`,
    )
  }
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  return { apiEndpoint: url.hostname, port, protocol: secure ? 'https' : 'http' }
}

const pageSize = 500
// A tenth of a disk's description is all we read of it.
const diskFields = 'labels,labelFingerprint'
const pageFields = 'items(name,labels,labelFingerprint),nextPageToken'

interface SdkComputeApiParts {
  readonly address: Address
  readonly callTimeoutMs: number
  readonly clock: Clock
  readonly credentials: Credentials
  readonly sender: ProxiedSender
}

class SdkComputeApi implements ComputeApi {
  readonly #parts: SdkComputeApiParts
  readonly #zonal: DisksClient
  #regional: Promise<RegionDisksClient> | undefined

  constructor(parts: SdkComputeApiParts) {
    this.#parts = parts
    this.#zonal = new DisksClient(this.#clientOptions())
  }

  async getDisk({ disk, place, project }: GcpDiskName, signal: AbortSignal): Promise<ObservedTags> {
    const options = this.#callOptions(signal, diskFields)
    const [found] = await this.#translated('read', async () =>
      place.kind === 'zone'
        ? this.#zonal.get({ project, zone: place.name, disk }, options)
        : (await this.#regionalClient()).get({ project, region: place.name, disk }, options),
    )
    return observedOf(found)
  }

  async listDisks({ place, project }: DiskFolder, query: DiskQuery, signal: AbortSignal): Promise<DiskPage> {
    const options: CallOptions = { ...this.#callOptions(signal, pageFields), autoPaginate: false }
    const parameters = parametersOf(query)
    const [disks, , answer] = await this.#translated('read', async () =>
      place.kind === 'zone'
        ? this.#zonal.list({ project, zone: place.name, ...parameters }, options)
        : (await this.#regionalClient()).list({ project, region: place.name, ...parameters }, options),
    )
    return {
      disks: disks.map((disk) => ({ name: disk.name ?? '', observed: observedOf(disk) })),
      nextToken: answer?.nextPageToken === '' ? undefined : (answer?.nextPageToken ?? undefined),
    }
  }

  async setLabels(
    { disk: resource, place, project }: GcpDiskName,
    { fingerprint, labels }: LabelSet,
    signal: AbortSignal,
  ): Promise<void> {
    const options = this.#callOptions(signal)
    const body = { labels: Object.fromEntries(labels), labelFingerprint: fingerprint }
    await this.#translated('write', async () => {
      const [operation] =
        place.kind === 'zone'
          ? await this.#zonal.setLabels(
              { project, zone: place.name, resource, zoneSetLabelsRequestResource: body },
              options,
            )
          : await (
              await this.#regionalClient()
            ).setLabels({ project, region: place.name, resource, regionSetLabelsRequestResource: body }, options)
      // Not polled: what can be wrong is said at once, and the next sweep looks at the disk.
      refuseFailed(operation)
    })
  }

  projectId(): Promise<string> {
    return this.#translated('read', () => this.#parts.credentials.projectId())
  }

  close(): void {
    this.#parts.sender.close()
  }

  #regionalClient(): Promise<RegionDisksClient> {
    this.#regional ??= import('./region-disks-client.js').then(
      ({ RegionDisksClient: Client }) => new Client(this.#clientOptions()),
    )
    return this.#regional
  }

  #clientOptions(): ClientOptions {
    return { auth: this.#parts.sender, ...this.#parts.address }
  }

  #callOptions(signal: AbortSignal, fields?: string): CallOptions {
    return {
      signal,
      // A call is given up by its signal; the SDK's own time-out comes after, should the clock be another one.
      timeout: this.#parts.callTimeoutMs * 2,
      // Pacing and retries are ours: two retry loops multiply, and this one lasts ten minutes.
      retry: { retryCodes: [] },
      ...(fields !== undefined && { otherArgs: { headers: { 'X-Goog-FieldMask': fields } } }),
    }
  }

  async #translated<Answer>(kind: 'read' | 'write', call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call()
    } catch (thrown) {
      throw toProviderError(thrown, { kind, nowWallMs: this.#parts.clock.wallMs() })
    }
  }
}

function parametersOf({ filter, pageToken }: DiskQuery): ListParameters {
  return {
    maxResults: pageSize,
    ...(filter !== undefined && { filter }),
    ...(pageToken !== undefined && { pageToken }),
  }
}

function observedOf({ labelFingerprint, labels }: DiskResource): ObservedTags {
  const tags = new Map(Object.entries(labels ?? {}))
  return labelFingerprint === null || labelFingerprint === undefined || labelFingerprint === ''
    ? { tags }
    : { tags, etag: labelFingerprint }
}

function refuseFailed({ latestResponse }: Operation): void {
  const { error, httpErrorMessage, httpErrorStatusCode } = latestResponse
  const [first] = error?.errors ?? []
  if (first === undefined) return
  throw new FailedOperation({
    status: httpErrorStatusCode ?? 500,
    reason: first.code ?? 'OPERATION_FAILED',
    message: first.message ?? httpErrorMessage ?? 'the operation failed',
  })
}
