import { Agent as HttpAgent, type AgentOptions } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import {
  CreateTagsCommand,
  DeleteTagsCommand,
  DescribeVolumesCommand,
  EC2Client,
  type EC2ClientConfig,
} from '@aws-sdk/client-ec2'
import type { TagSet } from '../../tags/tag-set.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Pair } from '../write-grouping.ts'
import { toProviderError } from './errors.ts'

export interface VolumeQuery {
  /**
   * `by-id` fails where one of them does not exist; `filter` leaves it out, and takes fewer at a time. Neither may be
   * empty, or the whole account is read.
   */
  readonly how: 'by-id' | 'filter'
  readonly ids: readonly string[]
  readonly nextToken?: string
}

export interface VolumePage {
  readonly volumes: ReadonlyMap<string, TagSet>
  readonly nextToken: string | undefined
}

/** The three calls we make, each exactly once, in our own terms. They throw ProviderError. */
export interface Ec2Api {
  readonly region: string
  createTags(ids: readonly string[], tags: readonly Pair[], signal: AbortSignal): Promise<void>
  /** Deletes a tag only while it has this value. */
  deleteTags(ids: readonly string[], tags: readonly Pair[], signal: AbortSignal): Promise<void>
  describeVolumes(query: VolumeQuery, signal: AbortSignal): Promise<VolumePage>
  close(): void
}

export interface Ec2ApiOptions {
  readonly clock: Clock
  /** Where it is missing, the SDK's own chain: AWS_REGION, then the profile. */
  readonly region?: string | undefined
  /** Where it is missing, AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL, then the region's own. */
  readonly endpoint?: string | undefined
  readonly credentials?: EC2ClientConfig['credentials']
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY, of either case; without it every connection is direct. */
  readonly proxyEnv?: ProxyEnv | undefined
}

type ProxyEnv = NonNullable<AgentOptions['proxyEnv']>

/** Throws where no region is to be found. Makes no call: credentials are looked for with the first one. */
export async function createEc2Api(options: Ec2ApiOptions): Promise<Ec2Api> {
  const { clock, credentials, endpoint, region } = options
  const client = new EC2Client({
    // Pacing and retries are ours: two retry loops multiply.
    maxAttempts: 1,
    requestHandler: requestHandlerOptions(options.proxyEnv),
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && { credentials }),
  })
  return new SdkEc2Api(client, clock, await regionOf(client))
}

/** One place where connections are made: few, kept open, since a TLS handshake costs more than the call. */
function requestHandlerOptions(proxyEnv: ProxyEnv | undefined): NonNullable<EC2ClientConfig['requestHandler']> {
  const pool = { keepAlive: true, maxSockets: 50, ...(proxyEnv !== undefined && { proxyEnv }) }
  return {
    httpAgent: new HttpAgent(pool),
    httpsAgent: new HttpsAgent(pool),
    connectionTimeout: 3000,
  }
}

async function regionOf(client: EC2Client): Promise<string> {
  try {
    return await client.config.region()
  } catch (cause) {
    throw new Error('no AWS region is known: set aws.region in the configuration, or AWS_REGION', { cause })
  }
}

class SdkEc2Api implements Ec2Api {
  readonly region: string
  readonly #client: EC2Client
  readonly #clock: Clock

  constructor(client: EC2Client, clock: Clock, region: string) {
    this.#client = client
    this.#clock = clock
    this.region = region
  }

  async createTags(ids: readonly string[], tags: readonly Pair[], abortSignal: AbortSignal): Promise<void> {
    const command = new CreateTagsCommand({ Resources: [...ids], Tags: tags.map(toTag) })
    await this.#translated('write', () => this.#client.send(command, { abortSignal }))
  }

  async deleteTags(ids: readonly string[], tags: readonly Pair[], abortSignal: AbortSignal): Promise<void> {
    // Without a list of tags EC2 deletes every tag of the volume.
    if (tags.length === 0) throw new RangeError('deleteTags needs a tag')
    const command = new DeleteTagsCommand({ Resources: [...ids], Tags: tags.map(toTag) })
    await this.#translated('write', () => this.#client.send(command, { abortSignal }))
  }

  async describeVolumes({ how, ids, nextToken }: VolumeQuery, abortSignal: AbortSignal): Promise<VolumePage> {
    if (ids.length === 0) throw new RangeError('describeVolumes needs an id')
    const command = new DescribeVolumesCommand({
      ...(how === 'by-id' ? { VolumeIds: [...ids] } : { Filters: [{ Name: 'volume-id', Values: [...ids] }] }),
      ...(nextToken !== undefined && { NextToken: nextToken }),
      // Or volumes of EKS Auto Mode look as if they were gone in accounts that hide managed resources.
      IncludeManagedResources: true,
    })
    const answer = await this.#translated('read', () => this.#client.send(command, { abortSignal }))
    const volumes = new Map<string, TagSet>()
    for (const { Tags = [], VolumeId = '' } of answer.Volumes ?? []) {
      volumes.set(VolumeId, new Map(Tags.map(({ Key = '', Value = '' }) => [Key, Value])))
    }
    return { volumes, nextToken: answer.NextToken === '' ? undefined : answer.NextToken }
  }

  close(): void {
    this.#client.destroy()
  }

  async #translated<Answer>(kind: 'read' | 'write', call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call()
    } catch (thrown) {
      throw toProviderError(thrown, { kind, nowWallMs: this.#clock.wallMs() })
    }
  }
}

function toTag([Key, Value]: Pair): { Key: string; Value: string } {
  return { Key, Value }
}
