import type { DiskRef } from '../../claims/disk.ts'
import type { TagChanges } from '../../plan/tag-changes.ts'
import { pause, type Clock } from '../../runtime/clock.ts'
import { ownForm } from '../../tags/tag-form.ts'
import type { TagForm } from '../../tags/tag-form.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import { ProviderError } from '../provider-error.ts'
import type { CallOptions, DiskProvider, ObservedTags, WriteOptions } from '../provider.ts'
import { normalize, tagsPerDisk } from './normalize.ts'
import { isProtectedKey } from './protected-keys.ts'

export interface MemoryProviderOptions {
  readonly clock: Clock
  /** How long every call takes. */
  readonly latencyMs?: number
  /** Only disks that were added exist; otherwise a disk exists as soon as somebody asks for it. */
  readonly knownDisksOnly?: boolean
  /** Our own, with no protected key allowed, where it is missing. */
  readonly tagForm?: TagForm
}

export type MemoryMethod = 'getTags' | 'applyChanges' | 'listTags'

export interface FailureScope {
  /** Any method where it is missing. */
  readonly method?: MemoryMethod
  /** Any disk where it is missing. */
  readonly disk?: string
  /** The change takes effect all the same: an answer that was lost. */
  readonly afterWrite?: boolean
}

/** A cloud in memory, for a first look without an account, for demos and for tests. Merges changes, as AWS and Azure do. */
export class MemoryProvider implements DiskProvider {
  readonly name = 'mock'
  readonly replacesWholeSet = false
  readonly tagsPerDisk = tagsPerDisk
  readonly readLagMs = 0
  readonly #clock: Clock
  readonly #form: TagForm
  readonly #knownDisksOnly: boolean
  readonly #disks = new Map<string, Map<string, string>>()
  /** Also where disks exist when asked for, a removed one stays away. */
  readonly #removed = new Set<string>()
  #failures: { readonly error: ProviderError; readonly scope: FailureScope }[] = []
  readonly #calls: Record<MemoryMethod, number> = { getTags: 0, applyChanges: 0, listTags: 0 }
  latencyMs: number

  constructor({ clock, latencyMs = 0, knownDisksOnly = false, tagForm = ownForm }: MemoryProviderOptions) {
    this.#clock = clock
    this.#form = tagForm
    this.latencyMs = latencyMs
    this.#knownDisksOnly = knownDisksOnly
  }

  scopeOf(): string {
    return 'memory'
  }

  normalize(desired: TagSet, enforced?: ReadonlySet<string>): ReturnType<DiskProvider['normalize']> {
    return normalize(desired, { form: this.#form, enforced })
  }

  isProtectedKey(key: string): boolean {
    return isProtectedKey(key, this.#form.allowedKeys)
  }

  canonicalKey(key: string): string {
    return key
  }

  async getTags(disk: DiskRef, { signal }: CallOptions): Promise<ObservedTags> {
    refuseWhenAborted(signal)
    const failure = await this.#call('getTags', [disk])
    if (failure !== undefined) throw failure.error
    return { tags: new Map(this.#existing(disk)) }
  }

  async applyChanges(
    disk: DiskRef,
    changes: TagChanges,
    _observed: ObservedTags | undefined,
    { signal, beforeSend }: WriteOptions,
  ): Promise<void> {
    refuseWhenAborted(signal)
    const sendUntilMs = (await beforeSend?.()) ?? Infinity
    refuseWhenAborted(signal)
    if (this.#clock.monotonicMs() > sendUntilMs) throw notSent('its time to be sent had passed')
    const failure = await this.#call('applyChanges', [disk])
    if (failure !== undefined && failure.scope.afterWrite !== true) throw failure.error
    this.#disks.set(disk.id, changed(this.#existing(disk), changes))
    if (failure !== undefined) throw failure.error
  }

  async *listTags(
    disks: readonly DiskRef[],
    { signal }: CallOptions,
  ): AsyncIterable<{ readonly disk: DiskRef; readonly observed: ObservedTags }> {
    if (disks.length === 0) return
    refuseWhenAborted(signal)
    const failure = await this.#call('listTags', disks)
    if (failure !== undefined) throw failure.error
    for (const disk of disks) {
      const tags = this.#find(disk.id)
      if (tags !== undefined) yield { disk, observed: { tags: new Map(tags) } }
    }
  }

  /** Makes a disk, or makes it anew. */
  addDisk(id: string, tags: Readonly<Record<string, string>> = {}): void {
    this.#removed.delete(id)
    this.#disks.set(id, new Map(Object.entries(tags)))
  }

  removeDisk(id: string): void {
    this.#disks.delete(id)
    this.#removed.add(id)
  }

  /** Empty for a disk that nobody has asked for yet. */
  tagsOf(id: string): Record<string, string> {
    return Object.fromEntries(this.#disks.get(id) ?? [])
  }

  /** As somebody else would, in the cloud's console; without a value the tag is deleted. */
  setByHand(id: string, key: string, value?: string): void {
    const tags = this.#disks.get(id) ?? new Map<string, string>()
    if (value === undefined) tags.delete(key)
    else tags.set(key, value)
    this.#removed.delete(id)
    this.#disks.set(id, tags)
  }

  /** The next call in this scope throws. Several wait for one call each, in order. */
  failNext(error: ProviderError, scope: FailureScope = {}): void {
    this.#failures.push({ error, scope })
  }

  /** Calls that reached the cloud, by method; a listTags is one. */
  get calls(): Readonly<Record<MemoryMethod, number>> {
    return { ...this.#calls }
  }

  async #call(method: MemoryMethod, disks: readonly DiskRef[]) {
    this.#calls[method]++
    const failure = this.#takeFailure(method, disks)
    if (this.latencyMs > 0) await pause(this.#clock, this.latencyMs)
    return failure
  }

  #takeFailure(method: MemoryMethod, disks: readonly DiskRef[]) {
    const failure = this.#failures.find(
      ({ scope }) =>
        (scope.method ?? method) === method && (scope.disk === undefined || disks.some(({ id }) => id === scope.disk)),
    )
    this.#failures = this.#failures.filter((other) => other !== failure)
    return failure
  }

  #existing({ id }: DiskRef): ReadonlyMap<string, string> {
    const tags = this.#find(id)
    if (tags === undefined) throw new ProviderError('not-found', `there is no disk ${id}`)
    return tags
  }

  #find(id: string): ReadonlyMap<string, string> | undefined {
    const tags = this.#disks.get(id)
    if (tags !== undefined || this.#knownDisksOnly || this.#removed.has(id)) return tags
    const fresh = new Map<string, string>()
    this.#disks.set(id, fresh)
    return fresh
  }
}

function changed(tags: ReadonlyMap<string, string>, { set, remove }: TagChanges): Map<string, string> {
  const result = new Map(tags)
  for (const [key, values] of remove) {
    const value = result.get(key)
    if (value !== undefined && values.includes(value)) result.delete(key)
  }
  for (const [key, value] of set) result.set(key, value)
  if (result.size > tagsPerDisk && result.size > tags.size) {
    throw new ProviderError('invalid', `a disk holds ${tagsPerDisk} tags`, { code: 'TagLimitExceeded' })
  }
  return result
}

function refuseWhenAborted(signal: AbortSignal): void {
  if (signal.aborted) throw notSent('the program is stopping')
}

function notSent(reason: string): ProviderError {
  return new ProviderError('unavailable', `the call was not sent: ${reason}`, { outcomeUnknown: false })
}
