import { expect } from 'chai'
import type { DiskRef } from '../../src/claims/disk.ts'
import type { TagChanges } from '../../src/plan/tag-changes.ts'
import { ProviderError, type ProviderErrorKind } from '../../src/providers/provider-error.ts'
import type { CallOptions, DiskProvider, WriteOptions } from '../../src/providers/provider.ts'
import type { Clock } from '../../src/runtime/clock.ts'

/** A provider and the cloud behind it, as the contract's tests steer it. Reads see writes at once. */
export interface ContractSubject {
  readonly provider: DiskProvider
  /** The clock that the provider was given. */
  readonly clock: Clock
  /** How long the cloud asks to wait when `failNext('throttled')` made it; undefined where it never says. */
  readonly throttleRetryAfterMs: number | undefined

  /** Makes one more disk with exactly these tags. */
  readonly addDisk: (tags?: Readonly<Record<string, string>>) => DiskRef
  /** A disk that the cloud does not know, in the cloud's own form. */
  readonly missingDisk: () => DiskRef
  /** The true tags now. */
  readonly tagsOf: (disk: DiskRef) => Record<string, string>
  /** As somebody else would; without a value the tag is deleted. */
  readonly setByHand: (disk: DiskRef, key: string, value?: string) => void
  /** Refuses writes to this disk for want of permission, from now on. */
  readonly deny: (disk: DiskRef) => void
  /** Foreign tags until not one more can be added. */
  readonly fill: (disk: DiskRef) => void
  /** The next call of that kind fails so; a lost answer belongs to a write that took effect. */
  readonly failNext: (failure: 'throttled' | 'unavailable' | 'lost-answer', call: 'read' | 'write') => void
  /** Calls that reached the cloud so far. */
  readonly calls: () => number
  readonly stop: () => Promise<void> | void
}

export type MakeSubject = () => Promise<ContractSubject> | ContractSubject

/** The subject of the running test; a getter, since each test has one of its own. */
export type CurrentSubject = () => ContractSubject

export function callOptions(options: Partial<CallOptions> = {}): CallOptions {
  return { signal: new AbortController().signal, lane: 'fresh', ...options }
}

export function changes(
  set: Readonly<Record<string, string>>,
  remove: Readonly<Record<string, readonly string[]>> = {},
): TagChanges {
  return { set: new Map(Object.entries(set)), remove: new Map(Object.entries(remove)) }
}

/** Writes as the path does: with a fresh read where the cloud replaces the whole set, without one elsewhere. */
export async function apply(
  { provider }: ContractSubject,
  disk: DiskRef,
  wanted: TagChanges,
  options: Partial<WriteOptions> = {},
): Promise<void> {
  const observed = provider.replacesWholeSet ? await provider.getTags(disk, callOptions()) : undefined
  await provider.applyChanges(disk, wanted, observed, { ...callOptions(), ...options })
}

/** The ProviderError that it must reject with. */
export async function failureOf(call: Promise<unknown>, kind: ProviderErrorKind): Promise<ProviderError> {
  const error = await rejectionOf(call)
  if (!(error instanceof ProviderError))
    throw new Error('rejected with something else than a ProviderError', { cause: error })
  expect(error.kind, error.message).to.equal(kind)
  return error
}

export async function rejectionOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call
  } catch (error) {
    return error
  }
  throw new Error('expected a rejection, and it succeeded')
}

/** Everything that listTags yields, by disk id. Throws where one disk comes twice. */
export async function listed(
  { provider }: ContractSubject,
  disks: readonly DiskRef[],
  options: Partial<CallOptions> = {},
): Promise<Map<string, Record<string, string>>> {
  const found = new Map<string, Record<string, string>>()
  for await (const { disk, observed } of provider.listTags(disks, callOptions(options))) {
    if (found.has(disk.id)) throw new Error(`${disk.id} was listed twice`)
    found.set(disk.id, Object.fromEntries(observed.tags))
  }
  return found
}
