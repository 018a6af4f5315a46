import { createResourceManagement } from '@azure/arm-resources/api'
import { azureDiskNameOf } from '../../claims/azure-disk.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ProviderError } from '../provider-error.ts'
import { findCredential, translated, type AzureCredential } from './credentials.ts'
import { ArmRefusal, toProviderError } from './errors.ts'
import { sdkEndpoint } from './plain-http.ts'
import { isQuotaLow, type AnswerHeaders } from './quota-headers.ts'
import { TagsByName } from './tag-names.ts'
import { createTransport, type ProxyEnv, type Transport } from './transport.ts'

/** What one call gave, and whether Azure said beside it that little quota is left. */
export interface Answered<Value> {
  readonly value: Value
  readonly quotaIsLow: boolean
}

export interface GraphQuery {
  readonly subscription: string
  /** In Resource Graph's language; its rows must have `id` and `tags`, in order of `id`. */
  readonly query: string
  readonly rowsMax: number
  readonly skipToken?: string
}

export interface GraphPage {
  /** Ids as Azure spells them. */
  readonly rows: readonly { readonly id: string; readonly tags: TagSet }[]
  /** How many rows the whole query has. */
  readonly total: number
  readonly skipToken: string | undefined
}

export type TagPatch = 'Merge' | 'Delete'

/** The three calls we make, each exactly once, in our own terms. They throw ProviderError. */
export interface ArmApi {
  readTags(disk: string, signal: AbortSignal): Promise<Answered<TagSet>>
  /**
   * Merge adds and overwrites, Delete removes tags with these names and values. Resolves to `accepted` where Azure
   * carries it out later, which is what it does for disks; nobody asks how that ended.
   */
  patchTags(
    disk: string,
    patch: { readonly operation: TagPatch; readonly tags: TagSet },
    signal: AbortSignal,
  ): Promise<Answered<'done' | 'accepted'>>
  queryDisks(query: GraphQuery, signal: AbortSignal): Promise<Answered<GraphPage>>
  close(): void
}

export interface ArmApiOptions {
  readonly clock: Clock
  /** Of a sovereign cloud, or a fake on this machine; where it is missing, the public cloud's. */
  readonly resourceManagerEndpoint?: string | undefined
  /** Where it is missing, AZURE_AUTHORITY_HOST, then the public cloud's. */
  readonly authorityHost?: string | undefined
  /** Where it is missing, see `findCredential`. */
  readonly credential?: AzureCredential | undefined
  /** HTTPS_PROXY and NO_PROXY, of either case; without it every connection is direct. */
  readonly proxyEnv?: ProxyEnv | undefined
}

const publicEndpoint = 'https://management.azure.com'
const tagsVersion = '2025-04-01'
const graphVersion = '2024-04-01'
const tagsPath =
  '/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute/disks/{disk}/providers/Microsoft.Resources/tags/default'
const graphPath = '/providers/Microsoft.ResourceGraph/resources'

/** Throws for an endpoint that is no URL. Makes no call: a token is asked for with the first one. */
export function createArmApi(options: ArmApiOptions): ArmApi {
  const endpoint = sdkEndpoint('azure.resourceManagerEndpoint', options.resourceManagerEndpoint ?? publicEndpoint)
  const authority =
    options.authorityHost === undefined ? undefined : sdkEndpoint('azure.authorityHost', options.authorityHost)
  const plainHosts = [endpoint.plainHost, authority?.plainHost].filter((host) => host !== undefined)
  const transport = createTransport({ proxyEnv: options.proxyEnv, plainHosts: new Set(plainHosts) })
  const credential = options.credential ?? findCredential(authority, transport)
  const client = createResourceManagement(translated(credential), '', {
    ...transport.options,
    endpoint: endpoint.url,
    credentials: { scopes: [`${endpoint.url}/.default`] },
  })
  return new SdkArmApi(client, transport, options.clock)
}

/** The SDK's client with its lowest call: its own tag operations wait for the disk, with several polls a write. */
type SdkClient = ReturnType<typeof createResourceManagement>

interface RawAnswer {
  readonly status: string
  readonly headers: AnswerHeaders
  readonly body: unknown
}

class SdkArmApi implements ArmApi {
  readonly #client: SdkClient
  readonly #transport: Transport
  readonly #clock: Clock

  constructor(client: SdkClient, transport: Transport, clock: Clock) {
    this.#client = client
    this.#transport = transport
    this.#clock = clock
  }

  async readTags(disk: string, abortSignal: AbortSignal): Promise<Answered<TagSet>> {
    return this.#answered(
      'read',
      () => this.#tagsOf(disk).get({ queryParameters: { 'api-version': tagsVersion }, abortSignal }),
      ({ body }) => {
        const { properties } = objectIn(body)
        return tagsIn(objectIn(properties)['tags'])
      },
    )
  }

  async patchTags(
    disk: string,
    { operation, tags }: { readonly operation: TagPatch; readonly tags: TagSet },
    abortSignal: AbortSignal,
  ): Promise<Answered<'done' | 'accepted'>> {
    // What Azure makes of an empty Delete is not documented.
    if (tags.size === 0) throw new RangeError('patchTags needs a tag')
    const body = { operation, properties: { tags: Object.fromEntries(tags) } }
    return this.#answered(
      'write',
      () => this.#tagsOf(disk).patch({ queryParameters: { 'api-version': tagsVersion }, body, abortSignal }),
      ({ status }) => (status === '202' ? 'accepted' : 'done'),
    )
  }

  async queryDisks(
    { subscription, query, rowsMax, skipToken }: GraphQuery,
    abortSignal: AbortSignal,
  ): Promise<Answered<GraphPage>> {
    const body = {
      subscriptions: [subscription],
      query,
      options: {
        $top: rowsMax,
        resultFormat: 'objectArray',
        ...(skipToken !== undefined && { $skipToken: skipToken }),
      },
    }
    const queryParameters = { 'api-version': graphVersion }
    return this.#answered(
      'read',
      () => this.#client.pathUnchecked(graphPath).post({ queryParameters, body, abortSignal }),
      ({ body }) => graphPageIn(body),
    )
  }

  close(): void {
    this.#transport.close()
  }

  #tagsOf(disk: string): ReturnType<SdkClient['pathUnchecked']> {
    const named = azureDiskNameOf(disk)
    if (named === undefined) throw new ProviderError('invalid', `${JSON.stringify(disk)} is not the id of a disk`)
    return this.#client.pathUnchecked(tagsPath, named.subscription, named.resourceGroup, named.name)
  }

  async #answered<Value>(
    kind: 'read' | 'write',
    call: () => PromiseLike<RawAnswer>,
    valueOf: (answer: RawAnswer) => Value,
  ): Promise<Answered<Value>> {
    try {
      const answer = await call()
      const status = Number(answer.status)
      if (status < 200 || status > 299) throw new ArmRefusal({ ...answer, status })
      return { value: valueOf(answer), quotaIsLow: isQuotaLow(answer.headers) }
    } catch (thrown) {
      throw toProviderError(thrown, { kind, nowWallMs: this.#clock.wallMs() })
    }
  }
}

function graphPageIn(body: unknown): GraphPage {
  const { $skipToken: skipToken, data, resultTruncated, totalRecords } = objectIn(body)
  if (!Array.isArray(data)) throw unreadable('it has no rows')
  const next = typeof skipToken === 'string' && skipToken !== '' ? skipToken : undefined
  // Rows that cannot be reached would look like disks that are gone.
  if (resultTruncated === 'true' && next === undefined) throw unreadable('it was cut short')
  const rows = data.map((row: unknown) => {
    const { id, tags } = objectIn(row)
    if (typeof id !== 'string') throw unreadable('a row has no id')
    return { id, tags: tagsIn(tags) }
  })
  return { rows, total: typeof totalRecords === 'number' ? totalRecords : rows.length, skipToken: next }
}

/** A resource without tags has null, or nothing, where others have their tags. */
function tagsIn(tags: unknown): TagSet {
  if (tags === undefined || tags === null) return new TagsByName()
  const entries = Object.entries(objectIn(tags))
  return new TagsByName(entries.map(([name, value]) => [name, typeof value === 'string' ? value : ''] as const))
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable('an object is missing')
  return value as Readonly<Record<string, unknown>>
}

/** What could not be read is an error, never an empty set. */
function unreadable(why: string): ProviderError {
  return new ProviderError('unavailable', `the answer cannot be read: ${why}`, { code: 'UnreadableAnswer' })
}
