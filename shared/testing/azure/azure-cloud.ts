import type { Clock } from '../../src/runtime/clock.ts'
import { ArmFault } from './arm-fault.ts'
import { DiskStore, type Disk } from './disk-store.ts'
import { TokenIssuer } from './identity.ts'
import { answerQuery } from './resource-graph.ts'
import type { Route } from './routes.ts'
import { parsePatch, patched } from './tags-api.ts'
import { TokenBuckets } from './token-buckets.ts'

/** A call that passed every check. `effect` has not happened yet. */
export interface AcceptedCall {
  readonly status: number
  readonly effect?: () => void
  readonly answer: object
  readonly headers?: Readonly<Record<string, string>>
}

export interface Request {
  readonly route: Route
  readonly url: URL
  readonly body: string
}

/** What Azure does with a call, without HTTP. */
export class AzureCloud {
  readonly disks: DiskStore
  readonly tokens = new TokenIssuer()
  /** Disk ids, in lower case, of which writes or reads are not allowed. */
  readonly denied = new Set<string>()
  readonly deniedReads = new Set<string>()
  /** Resource groups, in lower case, that Azure itself protects. */
  readonly lockedDown = new Set<string>()
  /** Disk ids and resource groups, in lower case, with a lock on them. */
  readonly locks = new Set<string>()
  /** What headers say is left, over what is true. */
  remaining: Readonly<Record<string, string>> = {}
  /** 202 is what managed disks answer; other resources answer 200. */
  accepts = true
  readonly #clock: Clock
  #buckets: TokenBuckets | undefined

  constructor(clock: Clock) {
    this.#clock = clock
    this.disks = new DiskStore(clock)
  }

  /** Starts with full buckets each time they are switched on. */
  enforceBuckets(on: boolean): void {
    this.#buckets = on ? new TokenBuckets(this.#clock) : undefined
  }

  /** Takes a token for this call. Throws 429 where there is none. */
  admit({ bucket, subscription = '' }: Route): void {
    if (bucket !== undefined) this.#buckets?.take(bucket, subscription)
  }

  /** Headers that every answer carries. */
  headers({ bucket, subscription = '' }: Route): Readonly<Record<string, string>> {
    const left = bucket === undefined ? {} : (this.#buckets?.header(bucket, subscription) ?? {})
    return { ...left, ...this.remaining }
  }

  accept({ route, url, body }: Request): AcceptedCall {
    if (route.operation === 'Token') {
      return { status: 200, answer: this.tokens.token(new URLSearchParams(body), this.#clock.wallMs()) }
    }
    if (route.operation === 'OpenIdConfiguration') {
      // Clients are told https, whatever they came by: the fake's own client puts that right below the SDK.
      return { status: 200, answer: this.tokens.openIdConfiguration(`https://${url.host}`, route.tenant ?? '') }
    }
    if (!url.searchParams.has('api-version')) {
      throw new ArmFault(400, 'MissingApiVersionParameter', 'The api-version query parameter is required.')
    }
    if (route.operation === 'QueryResources') return { status: 200, answer: answerQuery(this.disks, body) }
    return this.#acceptForDisk(route, body)
  }

  #acceptForDisk({ operation, disk: id = '' }: Route, body: string): AcceptedCall {
    const isWrite = operation !== 'GetTags' && operation !== 'GetDisk'
    // ARM asks for the right before it looks for the resource.
    if (isWrite) this.#checkWrite(id)
    else if (this.deniedReads.has(id.toLowerCase())) throw notAuthorized(id, 'read')
    const disk = this.disks.visible(id)
    if (disk === undefined) throw notFound(id)
    if (isWrite) return this.#acceptPatch(disk, body)
    const tags = Object.fromEntries(this.disks.readTags(disk))
    return {
      status: 200,
      answer: operation === 'GetDisk' ? { id: disk.id, location: 'westeurope', tags } : tagsResource(disk, tags),
    }
  }

  #acceptPatch(disk: Disk, body: string): AcceptedCall {
    const patch = parsePatch(body)
    // The checks see what the write starts from, and so does the write itself, at its end.
    patched(this.disks, disk, patch)
    const effect = () => this.disks.write(disk, patched(this.disks, disk, patch))
    const shown = Object.fromEntries(this.disks.readTags(disk))
    if (!this.accepts) return { status: 200, effect, answer: tagsResource(disk, shown) }
    const location = `/subscriptions/${disk.subscription}/providers/Microsoft.Compute/locations/westeurope/DiskOperations/1`
    // The answer to an accepted write still shows what was.
    return { status: 202, effect, answer: tagsResource(disk, shown), headers: { Location: `https://fake${location}` } }
  }

  #checkWrite(id: string): void {
    const lower = id.toLowerCase()
    const group = lower.split('/')[4] ?? ''
    if (this.denied.has(lower)) throw notAuthorized(id, 'write')
    if (this.lockedDown.has(group)) {
      throw new ArmFault(
        403,
        'DenyAssignmentAuthorizationFailed',
        `The client has permission to perform action 'Microsoft.Resources/tags/write' on scope '${id}'; however, the access is denied because of the deny assignment with name 'node resource group lockdown'.`,
      )
    }
    if (this.locks.has(lower) || this.locks.has(group)) {
      throw new ArmFault(
        409,
        'ScopeLocked',
        `The scope '${id}' cannot perform write operation because following scope(s) are locked. Please remove the lock and try again.`,
      )
    }
  }
}

function tagsResource(disk: Disk, tags: object): object {
  return {
    id: `${disk.id}/providers/Microsoft.Resources/tags/default`,
    name: 'default',
    type: 'Microsoft.Resources/tags',
    properties: { tags },
  }
}

function notFound(id: string): ArmFault {
  const [, , , , group = '', , , , name = ''] = id.split('/')
  return new ArmFault(
    404,
    'ResourceNotFound',
    `The Resource 'Microsoft.Compute/disks/${name}' under resource group '${group}' was not found.`,
  )
}

function notAuthorized(id: string, what: 'read' | 'write'): ArmFault {
  return new ArmFault(
    403,
    'AuthorizationFailed',
    `The client does not have authorization to perform action 'Microsoft.Resources/tags/${what}' over scope '${id}' or the scope is invalid.`,
  )
}
