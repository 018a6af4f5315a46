import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { readFrom } from './log-file.ts'

/**
 * Who asked the API server for what, as the API server itself wrote it down. Requests that priority and fairness refused
 * (429) are in it; requests that never arrived are not.
 */
export interface AuditedRequest {
  readonly user: string
  readonly verb: string
  readonly resource: string
  readonly subresource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly status: number
  readonly receivedAt: string
  /** When the answer was complete; for a watch, when it began. */
  readonly answeredAt: string
  readonly annotations: Readonly<Record<string, string>>
}

export interface AuditQuery {
  /** Full name, such as `system:serviceaccount:k8s-cloud-tagger:webhook`. */
  readonly user?: string
  /** From `mark()`: only what was answered later. */
  readonly since?: AuditMark
}

/** A place in the log. */
export type AuditMark = number & { readonly __brand: 'AuditMark' }

export interface AuditCounts {
  readonly total: number
  /** How many were refused by priority and fairness. */
  readonly throttled: number
  /** By verb and resource: `get persistentvolumes`, `patch persistentvolumeclaims/status`. */
  readonly byCall: ReadonlyMap<string, number>
}

// Reads of the control plane's own controllers are half of all requests, and nobody asks about them.
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', nonResourceURLs: ['*'] },
    { level: 'None', users: ['system:apiserver', 'system:kube-controller-manager'] },
    { level: 'None', userGroups: ['system:serviceaccounts:kube-system'], verbs: ['get', 'list', 'watch'] },
    { level: 'Metadata' },
  ],
}

export async function writeAuditPolicy(file: string): Promise<void> {
  await writeFile(file, stringify(policy))
}

interface AuditLine {
  readonly stage: string
  readonly verb: string
  readonly user: { readonly username: string }
  readonly objectRef?: {
    readonly resource?: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  }
  readonly responseStatus?: { readonly code?: number }
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly annotations?: Readonly<Record<string, string>>
}

export class AuditLog {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  /** To be given as `since`, so that what a scenario did before does not count. */
  async mark(): Promise<AuditMark> {
    return (await this.#settled(0)).length as AuditMark
  }

  async requests({ user, since = 0 as AuditMark }: AuditQuery = {}): Promise<readonly AuditedRequest[]> {
    const text = (await this.#settled(since)).toString('utf8')
    const requests: AuditedRequest[] = []
    for (const line of text.split('\n')) {
      // A user's name is in its line as it is: most lines need no parsing.
      if (line === '' || !line.includes(user ?? '')) continue
      const audited = JSON.parse(line) as AuditLine
      if (audited.user.username !== (user ?? audited.user.username)) continue
      if (!isEndOfWatch(audited)) requests.push(toRequest(audited))
    }
    return requests
  }

  async counts(query: AuditQuery = {}): Promise<AuditCounts> {
    const requests = await this.requests(query)
    const byCall = new Map<string, number>()
    for (const { verb, resource, subresource } of requests) {
      const call = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`
      byCall.set(call, (byCall.get(call) ?? 0) + 1)
    }
    const throttled = requests.filter(({ status }) => status === 429).length
    return { total: requests.length, throttled, byCall }
  }

  /**
   * The log from `offset` on. A line may be written some milliseconds after its answer was sent, so reading ends when
   * nothing was added for a moment, and after two seconds at the latest.
   */
  async #settled(offset: number): Promise<Buffer> {
    const parts: Buffer[] = []
    let end = offset
    for (let quiet = 0, reads = 0; quiet < 3 && reads < 80; reads++) {
      const part = await readFrom(this.#file, end)
      parts.push(part)
      end += part.length
      quiet = part.length === 0 ? quiet + 1 : 0
      await sleep(25)
    }
    const whole = Buffer.concat(parts)
    return whole.subarray(0, whole.lastIndexOf('\n') + 1)
  }
}

/** A watch writes two lines, when it begins and when it ends; a refused one only the second. */
function isEndOfWatch({ verb, stage, responseStatus }: AuditLine): boolean {
  return verb === 'watch' && stage === 'ResponseComplete' && responseStatus?.code === 200
}

function toRequest(line: AuditLine): AuditedRequest {
  return {
    user: line.user.username,
    verb: line.verb,
    resource: line.objectRef?.resource ?? '',
    subresource: line.objectRef?.subresource,
    namespace: line.objectRef?.namespace,
    name: line.objectRef?.name,
    status: line.responseStatus?.code ?? 0,
    receivedAt: line.requestReceivedTimestamp,
    answeredAt: line.stageTimestamp,
    annotations: line.annotations ?? {},
  }
}
