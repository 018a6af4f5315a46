import type { Claim } from '@k8s-cloud-tagger/shared/claims/claim.ts'
import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import { resolveDisk } from '@k8s-cloud-tagger/shared/claims/resolve.ts'
import type { TagChanges } from '@k8s-cloud-tagger/shared/plan/tag-changes.ts'
import { isEmpty } from '@k8s-cloud-tagger/shared/plan/tag-changes.ts'
import { ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'
import { foreseenRemovals } from '@k8s-cloud-tagger/shared/tagger/foreseen-removals.ts'
import { ownRecord, recordBasis } from '@k8s-cloud-tagger/shared/tagger/record-basis.ts'
import type { TaggingRules } from '@k8s-cloud-tagger/shared/tagger/tagging-rules.ts'
import { assessClaim } from './assess-claim.ts'
import type { Assessment, ManagedClaim } from './assess-claim.ts'
import type { ClaimRow, ClaimState, TagRow, Unread, WouldWrite } from './cluster-report.ts'
import type { ClusterSnapshot } from './cluster-snapshot.ts'
import type { DiskReading } from './disk-readings.ts'
import { estimateCalls } from './write-estimate.ts'

export interface AssembleOptions {
  readonly snapshot: ClusterSnapshot
  readonly rules: TaggingRules
  /** Empty means all. */
  readonly namespaces: readonly string[]
  readonly requiredLabels: readonly string[]
}

export interface Assembled {
  readonly claims: readonly ClaimRow[]
  readonly unread: readonly Unread[]
  readonly wouldWrite: WouldWrite
}

/** A claim's fate as far as the cluster alone decides it. */
type Resolved =
  | { readonly kind: 'managed'; readonly managed: ManagedClaim }
  | {
      readonly kind: 'settled'
      readonly claim: Claim
      readonly state: ClaimState
      readonly reason: string
      readonly detail?: string | undefined
    }

/**
 * The pure half of a report: from what was read to a row a claim, in two steps, since the first says which disks have to
 * be read.
 */
export class Assembly {
  readonly #options: AssembleOptions
  readonly #cache: ClusterCache
  readonly #unreadable: ReadonlySet<string>
  readonly #resolved: readonly Resolved[]

  constructor(options: AssembleOptions) {
    this.#options = options
    const { snapshot, rules, namespaces } = options
    this.#cache = cacheOf(snapshot, rules)
    this.#unreadable = new Set(snapshot.unread.map(({ what, name }) => `${what} ${name}`))
    // Before anything is planned, as the reconciler does: a rule that went wrong shows as removals that are held.
    for (const [tag, disks] of foreseenRemovals(this.#cache, rules)) rules.brake.foresee(tag, disks)
    const wanted = new Set(namespaces)
    this.#resolved = snapshot.claims
      .filter(({ namespace }) => wanted.size === 0 || wanted.has(namespace))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      .map((claim) => this.#resolve(claim))
  }

  /** The disks whose tags decide, each once. */
  get disks(): readonly string[] {
    const ids = this.#resolved.flatMap((each) => (each.kind === 'managed' ? [each.managed.disk.id] : []))
    return [...new Set(ids)]
  }

  /** Without readings: what the records say. `readAtMs` is the wall time before the first call. */
  assemble(readings?: ReadonlyMap<string, DiskReading>, readAtMs = 0): Assembled {
    const changes = new Map<string, TagChanges>()
    const rows: ClaimRow[] = []
    for (const resolved of this.#resolved) {
      if (resolved.kind === 'settled') rows.push(this.#settledRow(resolved))
      else {
        const { row, due } = this.#managedRow(resolved.managed, readings, readAtMs)
        rows.push(row)
        if (due !== undefined) changes.set(resolved.managed.disk.id, due)
      }
    }
    return {
      claims: rows,
      unread: [...this.#options.snapshot.unread, ...failedScopes(readings)],
      wouldWrite: {
        disks: changes.size,
        ...countTags(rows),
        cloudCalls: estimateCalls(this.#options.rules.cloud, changes),
      },
    }
  }

  #resolve(claim: Claim): Resolved {
    const { snapshot, rules } = this.#options
    const settled = (state: ClaimState, reason: string, detail?: string): Resolved => ({
      kind: 'settled',
      claim,
      state,
      reason,
      detail,
    })
    const namespace = this.#cache.namespaceNow(claim.namespace)
    const scope = this.#scopeOf(claim, namespace)
    if (scope !== undefined && !claim.deleting) return settled(...scope)
    if (claim.volumeName !== undefined && this.#isUnread('volume', snapshot.volumes, claim.volumeName)) {
      return settled('unread', 'volume-unreadable')
    }
    const volume = claim.volumeName === undefined ? undefined : this.#cache.volumeNow(claim.volumeName)
    const resolution = resolveDisk(claim, volume, rules.cloud)
    if (resolution.kind === 'pending') return settled('pending', resolution.reason)
    if (resolution.kind === 'skip') return settled('skipped', resolution.reason, resolution.detail)
    const [elder, ...juniors] = this.#cache.volumesOf(resolution.disk)
    if (elder !== undefined && elder.uid !== resolution.volume.uid) {
      return settled('skipped', 'disk-of-another-volume', elder.name)
    }
    return { kind: 'managed', managed: { ...resolution, namespace, juniors } }
  }

  /** What the rules say before the disk matters; undefined where they have nothing against it. */
  #scopeOf(claim: Claim, namespace: NamespaceInfo | undefined): [ClaimState, string] | undefined {
    const { rules, snapshot } = this.#options
    if (rules.rules.needsNamespace && namespace === undefined) {
      const unread = this.#isUnread('namespace', snapshot.namespaces, claim.namespace)
      return unread ? ['unread', 'namespace-unreadable'] : ['pending', 'namespace-not-found']
    }
    const reason = rules.rules.outOfScope({ claim, namespace })
    return reason === undefined ? undefined : ['skipped', reason]
  }

  #isUnread(what: 'volume' | 'namespace', listed: readonly unknown[] | undefined, name: string): boolean {
    return listed === undefined || this.#unreadable.has(`${what} ${name}`)
  }

  #settledRow({ claim, state, reason, detail }: Extract<Resolved, { kind: 'settled' }>): ClaimRow {
    return {
      ...this.#common(claim),
      state,
      reason,
      ...(detail !== undefined && { detail }),
      record: 'none',
      tags: [],
      otherTags: 0,
      problems: [],
      missingLabels: reason === 'out-of-scope' || reason === 'opted-out' ? [] : this.#missingLabels(claim),
    }
  }

  #managedRow(
    managed: ManagedClaim,
    readings: ReadonlyMap<string, DiskReading> | undefined,
    readAtMs: number,
  ): { readonly row: ClaimRow; readonly due?: TagChanges } {
    const { rules } = this.#options
    const { claim, disk } = managed
    const common = { ...this.#common(claim), disk: disk.id, missingLabels: this.#missingLabels(claim) }
    const reading = readings?.get(disk.id)
    const unknown = reading === undefined ? undefined : withoutTags(reading)
    if (unknown !== undefined) {
      const { record, problems, tags } = assessClaim(managed, undefined, rules)
      return { row: { ...common, ...unknown, record, tags: tags.flatMap(unknownTag), otherTags: 0, problems } }
    }
    const isYoung = readings !== undefined && isYoungerThanRead(managed, readAtMs, rules)
    const observed = reading?.kind === 'tags' && !isYoung ? reading.tags : undefined
    const { changes, ...assessed }: Assessment = assessClaim(managed, observed, rules)
    return { row: { ...common, ...assessed }, ...(!isEmpty(changes) && { due: changes }) }
  }

  #common(claim: Claim): Pick<ClaimRow, 'namespace' | 'name' | 'storageClass' | 'volume'> {
    return {
      namespace: claim.namespace,
      name: claim.name,
      ...(claim.storageClassName !== undefined && { storageClass: claim.storageClassName }),
      ...(claim.volumeName !== undefined && { volume: claim.volumeName }),
    }
  }

  #missingLabels(claim: Claim): readonly string[] {
    return this.#options.requiredLabels.filter((label) => !Object.hasOwn(claim.labels, label))
  }
}

function cacheOf(snapshot: ClusterSnapshot, { cloud }: TaggingRules): ClusterCache {
  const cache = new ClusterCache(cloud)
  for (const claim of snapshot.claims) cache.putClaim(claim)
  for (const volume of snapshot.volumes ?? []) cache.putVolume(volume)
  for (const namespace of snapshot.namespaces ?? []) cache.putNamespace(namespace)
  return cache
}

/** A bulk read may be older than what was just written: then the record knows better. */
function isYoungerThanRead({ volume, disk }: ManagedClaim, readAtMs: number, rules: TaggingRules): boolean {
  const record = ownRecord(recordBasis(volume, disk, rules.cloud))
  return record !== undefined && record.settledAtMs >= readAtMs - rules.provider.readLagMs
}

function withoutTags(reading: DiskReading): Pick<ClaimRow, 'state' | 'reason' | 'detail'> | undefined {
  if (reading.kind === 'missing') return { state: 'missing', reason: 'disk-not-found' }
  if (reading.kind === 'failed') return { state: 'unread', reason: reading.error, detail: reading.message }
  return undefined
}

/** What is wished is known all the same; what is there is not. */
function unknownTag({ key, value }: TagRow): readonly TagRow[] {
  return value === undefined ? [] : [{ key, value, state: 'unknown' }]
}

function countTags(rows: readonly ClaimRow[]): Pick<WouldWrite, 'add' | 'change' | 'remove'> {
  const counts = { add: 0, change: 0, remove: 0 }
  for (const { tags } of rows) {
    for (const { state } of tags) if (state === 'add' || state === 'change' || state === 'remove') counts[state]++
  }
  return counts
}

function failedScopes(readings: ReadonlyMap<string, DiskReading> = new Map()): readonly Unread[] {
  const scopes = new Map<string, { count: number; message: string }>()
  for (const reading of readings.values()) {
    if (reading.kind !== 'failed') continue
    const known = scopes.get(reading.scope)
    if (known === undefined) scopes.set(reading.scope, { count: 1, message: reading.message })
    else known.count++
  }
  return [...scopes].map(([name, { count, message }]) => ({
    what: 'disks',
    name,
    reason: `${count} ${count === 1 ? 'disk' : 'disks'}: ${message}`,
  }))
}
