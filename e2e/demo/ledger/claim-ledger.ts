import { appliedAnnotation } from '@k8s-cloud-tagger/shared/claims/annotations.ts'
import { parseRecord } from '@k8s-cloud-tagger/shared/plan/record-codec.ts'
import type { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import type { EmbeddedKubernetes } from '@k8s-cloud-tagger/shared/testing/kubernetes/embedded-kubernetes.ts'
import { childOf, type KubeObject, stringOf } from '@k8s-cloud-tagger/shared/testing/kubernetes/objects.ts'
import { KubeClient } from '../../src/kube-client.ts'
import type { PersistentVolumeClaim } from '../../src/kube-objects.ts'
import { type Cause, type ClaimEntry, isWaiting, latestCause } from './claim-entry.ts'
import { doorOf } from './door.ts'
import { findDisk } from './resolution-words.ts'
import { describeDifferences, tagDifferences } from './tag-differences.ts'

const lookEveryMs = 20

/** A change of a disk by one of the programs. */
export interface Write {
  readonly door: string
  readonly cause: Cause
  readonly afterMs: number
  readonly inGroup: boolean
}

export interface LedgerOptions {
  readonly cloud: Ec2Fake
  readonly kubernetes: EmbeddedKubernetes
  /** Claims for which this gives one name share a row. */
  readonly groupOf?: (key: string) => string | undefined
  /** Told of everything that happens, in one sentence without its subject. */
  readonly onEvent: (entry: ClaimEntry, what: string) => void
  /** Told, once, where the ledger can no longer follow. */
  readonly onError: (error: unknown) => void
}

/**
 * Follows every claim from outside: a watch of its own for what happens to claims, the records on volumes for who wrote,
 * and the disks in EC2 for what they carry and since when. It asks the programs nothing.
 */
export class ClaimLedger {
  readonly #options: LedgerOptions
  readonly #entries = new Map<string, ClaimEntry>()
  readonly #client: KubeClient
  readonly #ending = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #unhook: () => void
  readonly #writes: Write[] = []
  /** Writes by the door that they came through. */
  readonly writesBy = new Map<string, number>()

  constructor(options: LedgerOptions) {
    this.#options = options
    const { kubernetes } = options
    const token = kubernetes.users.tokenOf('admin')
    this.#client = new KubeClient({ url: kubernetes.url, caPem: kubernetes.caCertificate, token })
    // Those were bound at a time that nobody here has seen.
    for (const claim of kubernetes.list('persistentvolumeclaims')) this.#claimSeen(claim, true)
    this.#timer = setInterval(() => this.#lookAtDisks(), lookEveryMs)
    this.#unhook = kubernetes.onRequest((moment, { type, verb, name }) => {
      if (moment === 'after' && verb === 'patch' && type.plural === 'persistentvolumes') this.#recordWritten(name)
    })
    this.#follow().catch((error: unknown) => {
      if (!this.#ending.signal.aborted) options.onError(error)
    })
  }

  get entries(): readonly ClaimEntry[] {
    return [...this.#entries.values()]
  }

  entry(key: string): ClaimEntry | undefined {
    return this.#entries.get(key)
  }

  /** All that followed something that was seen to happen, oldest first. */
  get writes(): readonly Write[] {
    return this.#writes
  }

  /** Changes a disk as a person in the cloud's console would; what follows is measured from here. */
  byHand(key: string, what: string, change: (cloud: Ec2Fake, disk: string) => void): void {
    const entry = this.#entries.get(key)
    if (entry?.disk === undefined) throw new Error(`${key} has no disk to be changed by hand`)
    const { cloud, onEvent } = this.#options
    change(cloud, entry.disk)
    entry.happenedAtMs.hand = Date.now()
    const tags = cloud.tagsOf(entry.disk)
    entry.changedKeys = new Set(Object.keys(tagDifferences(entry.tags, tags).set))
    entry.tags = tags
    onEvent(entry, `by hand in the cloud: ${what}`)
  }

  stop(): void {
    this.#ending.abort()
    clearInterval(this.#timer)
    this.#unhook()
    this.#client.close()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ending
    // A watch without a version begins with everything there is, and the embedded API ends one only when it stops.
    for await (const { type, object } of this.#client.watch<PersistentVolumeClaim>('/api/v1/persistentvolumeclaims', {
      signal,
    })) {
      if (type !== 'DELETED') this.#claimSeen(object as unknown as KubeObject)
    }
    if (!signal.aborted) throw new Error('The watch of claims has ended')
  }

  #claimSeen(claim: KubeObject, wasThere = false): void {
    const key = `${claim.metadata.namespace ?? ''}/${claim.metadata.name}`
    const entry = this.#entries.get(key) ?? this.#newEntry(key)
    const before = { labels: entry.labels, disk: entry.disk, reason: entry.reason }
    entry.labels = claim.metadata.labels ?? {}
    for (const label of Object.keys(entry.labels)) entry.ourKeys.add(label)
    entry.volumeName = stringOf(claim.spec, 'volumeName')
    this.#findDiskOf(entry, claim)
    if (wasThere) return
    if (before.disk === undefined) entry.foundTags = entry.tags
    this.#tell(entry, before)
  }

  #tell(entry: ClaimEntry, before: Pick<ClaimEntry, 'labels' | 'disk' | 'reason'>): void {
    const { onEvent } = this.#options
    const changed = describeDifferences(tagDifferences(before.labels, entry.labels))
    if (before.disk === undefined && entry.disk !== undefined) {
      entry.happenedAtMs.bind = Date.now()
      onEvent(entry, `bound to ${entry.disk}`)
    } else if (before.disk !== undefined && changed !== '') {
      entry.happenedAtMs.label = Date.now()
      onEvent(entry, `labels changed: ${changed}`)
    } else if (entry.reason !== before.reason && entry.reason !== undefined) {
      onEvent(entry, isWaiting(entry) ? 'created' : entry.reason)
    }
  }

  #newEntry(key: string): ClaimEntry {
    const entry: ClaimEntry = {
      key,
      group: this.#options.groupOf?.(key),
      labels: {},
      volumeName: undefined,
      disk: undefined,
      reason: undefined,
      foundTags: {},
      tags: {},
      ourKeys: new Set(),
      changedKeys: new Set(),
      door: undefined,
      happenedAtMs: {},
      lastWrite: undefined,
    }
    this.#entries.set(key, entry)
    return entry
  }

  #findDiskOf(entry: ClaimEntry, claim: KubeObject): void {
    const { kubernetes, cloud } = this.#options
    const volume = entry.volumeName === undefined ? undefined : kubernetes.get('persistentvolumes', entry.volumeName)
    const found = findDisk(claim, volume)
    entry.reason = found.kind === 'disk' ? undefined : found.reason
    if (found.kind !== 'disk' || entry.disk !== undefined) return
    entry.disk = found.disk.id
    if (cloud.hasVolume(entry.disk)) entry.tags = cloud.tagsOf(entry.disk)
  }

  #recordWritten(volumeName: string): void {
    const volume = this.#options.kubernetes.get('persistentvolumes', volumeName)
    const reference = childOf(volume?.spec, 'claimRef')
    const entry = this.#entries.get(`${stringOf(reference, 'namespace') ?? ''}/${stringOf(reference, 'name') ?? ''}`)
    const parsed = parseRecord(volume?.metadata.annotations?.[appliedAnnotation])
    if (entry === undefined || parsed.kind !== 'record') return
    entry.door = doorOf(parsed.record, entry.labels) ?? entry.door
  }

  #lookAtDisks(): void {
    const { cloud } = this.#options
    for (const entry of this.#entries.values()) {
      if (entry.disk === undefined || !cloud.hasVolume(entry.disk)) continue
      const tags = cloud.tagsOf(entry.disk)
      const differences = tagDifferences(entry.tags, tags)
      if (Object.keys(differences.set).length === 0 && differences.removed.length === 0) continue
      entry.tags = tags
      entry.changedKeys = new Set(Object.keys(differences.set))
      this.#written(entry, cloud.changedAtMs(entry.disk), describeDifferences(differences))
    }
  }

  #written(entry: ClaimEntry, atMs: number, what: string): void {
    const door = entry.door ?? 'somebody unknown'
    this.writesBy.set(door, (this.writesBy.get(door) ?? 0) + 1)
    entry.lastWrite = latestCause(entry.happenedAtMs, atMs)
    if (entry.lastWrite === undefined) return this.#options.onEvent(entry, `${what} (${door})`)
    const { cause, afterMs } = entry.lastWrite
    this.#writes.push({ cause, afterMs, door, inGroup: entry.group !== undefined })
    this.#options.onEvent(entry, `${what} (${door}, ${Math.round(afterMs)} ms after the ${causeWords[cause]})`)
  }
}

const causeWords: Readonly<Record<Cause, string>> = { bind: 'bind', label: 'label', hand: 'change by hand' }
