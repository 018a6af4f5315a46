// How the tags API is called, as Azure's own client calls it: it is asked once, and its requests are the measure of ours.
import { ResourceManagementClient } from '@azure/arm-resources'
import { ArmFault } from './arm-fault.ts'

/** One call of the tags API, as the client writes it. */
interface Written {
  readonly method: string
  /** Below the scope. */
  readonly path: string
  readonly apiVersion: string
  readonly contentType: string | undefined
  readonly body: unknown
}

/** The calls that a fake serves, by the client's own hand. */
export interface TagsSchema {
  readonly get: Written
  readonly patch: Written
}

/** A request, as it came. */
export interface RawTagsRequest {
  readonly method: string
  /** Below the disk. */
  readonly path: string
  readonly query: URLSearchParams
  readonly contentType: string | undefined
  readonly body: string
}

const scope = 'subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d'

let learned: Promise<TagsSchema> | undefined

/** Asks the client, once for all fakes; no connection is made. */
export function learnTagsSchema(): Promise<TagsSchema> {
  learned ??= learn()
  return learned
}

async function learn(): Promise<TagsSchema> {
  const written: Written[] = []
  const client = new ResourceManagementClient(
    { getToken: async () => ({ token: 'none', expiresOnTimestamp: Number.MAX_SAFE_INTEGER }) },
    {
      endpoint: 'https://fake',
      retryOptions: { maxRetries: 0 },
      httpClient: {
        async sendRequest(request) {
          const url = new URL(request.url)
          written.push({
            method: request.method,
            path: url.pathname.slice(scope.length + 1),
            apiVersion: url.searchParams.get('api-version') ?? '',
            contentType: request.headers.get('content-type'),
            body: typeof request.body === 'string' ? JSON.parse(request.body) : undefined,
          })
          return { request, status: 200, headers: request.headers, bodyAsText: '{"properties":{"tags":{}}}' }
        },
      },
    },
  )
  await client.tagsOperations.getAtScope(scope)
  // Every field that there is; what is not one does not come out again.
  await client.tagsOperations.updateAtScope(scope, { operation: 'Merge', properties: { tags: { name: 'value' } } })
  const [get, patch] = written
  if (get === undefined || patch === undefined) throw new Error('the client sent no requests')
  return { get, patch }
}

/** Throws ArmFault for a request that the client would not have written. */
export function checkTagsRequest(request: RawTagsRequest, { get, patch }: TagsSchema): void {
  const expected = request.method === get.method ? get : patch
  if (request.method !== expected.method || request.path.toLowerCase() !== expected.path.toLowerCase()) {
    throw new ArmFault(404, 'InvalidResourceType', `There is no ${request.method} ${request.path}.`)
  }
  checkVersion(request.query, [expected.apiVersion])
  if (expected.body === undefined) {
    if (request.body !== '') throw badContent(`${expected.method} takes no content`)
    return
  }
  if (request.contentType?.startsWith('application/json') !== true) {
    throw new ArmFault(415, 'UnsupportedMediaType', 'The content type is not application/json.')
  }
  checkLike(contentIn(request.body), expected.body, '')
}

/** Throws where the version is missing or not one of these, or where there is any other parameter. */
export function checkVersion(query: URLSearchParams, versions: readonly string[]): void {
  const version = query.get('api-version')
  if (version === null) {
    throw new ArmFault(400, 'MissingApiVersionParameter', 'The api-version query parameter is required.')
  }
  if (!versions.includes(version)) {
    const known = versions.map((each) => `'${each}'`).join(', ')
    throw new ArmFault(
      400,
      'InvalidApiVersionParameter',
      `The api-version '${version}' is invalid. The supported versions are ${known}.`,
    )
  }
  const other = [...query.keys()].find((name) => name !== 'api-version')
  if (other !== undefined) throw badContent(`the query parameter '${other}' is unknown`)
}

export function contentIn(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw badContent('it is no JSON')
  }
}

/** No field that the sample lacks, and each of the sample's type; below `tags` any name goes. */
function checkLike(value: unknown, sample: unknown, where: string): void {
  if (typeof sample !== 'object' || sample === null) {
    if (typeof value !== typeof sample) throw badContent(`'${where}' is no ${typeof sample}`)
    return
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badContent(`'${where}' is no object`)
  const parts = sample as Readonly<Record<string, unknown>>
  const isMap = where === 'properties.tags'
  for (const [name, part] of Object.entries(value)) {
    if (!isMap && !Object.hasOwn(parts, name)) throw badContent(`there is no field '${name}'`)
    checkLike(part, isMap ? parts['name'] : parts[name], where === '' ? name : `${where}.${name}`)
  }
}

export function badContent(why: string): ArmFault {
  return new ArmFault(
    400,
    'InvalidRequestContent',
    `The request content was invalid and could not be deserialized: ${why}.`,
  )
}
