import type { Cloud } from '../../src/claims/disk-sources.ts'
import type { DiskRef } from '../../src/claims/disk.ts'
import type { VolumeSource } from '../../src/claims/volume.ts'
import { noCloudMetrics, type CloudMetrics } from '../../src/providers/cloud-metrics.ts'
import type { ExpectedCompany, RunningProvider } from '../../src/providers/running-provider.ts'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { silentLogger, type Logger } from '../../src/runtime/logger.ts'
import type { TagForm } from '../../src/tags/tag-form.ts'
import type { CommonFault, InjectedFault } from '../cloud-fake/faults.ts'
import type { ContractSubject } from './subject.ts'

/** What a test may want otherwise. */
export interface CloudSubjectOptions {
  /** Of the provider; the fake goes by the system's. */
  readonly clock?: Clock
  readonly logger?: Logger
  readonly metrics?: CloudMetrics
  readonly expected?: ExpectedCompany
  readonly callTimeoutMs?: number
  readonly tagForm?: TagForm
}

/** A cloud's provider with the real SDK, and the fake behind it, steered alike whatever the cloud. */
export interface CloudSubject extends ContractSubject {
  readonly cloud: Exclude<Cloud, 'mock'>
  readonly provider: RunningProvider
  /** As a volume in Kubernetes names this disk. */
  readonly source: (disk: DiskRef) => VolumeSource
  readonly removeDisk: (disk: DiskRef) => void
  /** Hits the next `times` calls of that kind, whatever the cloud calls them. */
  readonly inject: (fault: CommonFault, call: CallKind, times?: number) => InjectedFault
  /** A refusal with a code that is in no table of ours. */
  readonly refuseUnknown: (call: CallKind, times?: number) => InjectedFault
  /** The code of `refuseUnknown`. */
  readonly unknownCode: string
  /** Done when the next call of that kind has arrived, before anything happened to it. */
  readonly beforeNext: (call: CallKind, act: () => void) => void
  /** Single reads, bulk reads and writes that reached the cloud. */
  readonly callsOf: (call: CallKind) => number
  readonly inFlight: () => number
  readonly release: () => void
  readonly landed: () => Promise<void>
}

/** Whatever a cloud calls its single and bulk reads, and its writes. */
export type CallKind = 'read' | 'write'

export type CloudName = CloudSubject['cloud']

/** What every provider is made with. */
export function providerDeps({
  clock = systemClock,
  logger = silentLogger,
  metrics = noCloudMetrics,
  expected = { readsToCome: () => 0, writesToCome: () => 0 },
  callTimeoutMs,
  tagForm,
}: CloudSubjectOptions) {
  return {
    clock,
    random: { next: () => 0.5 },
    logger,
    metrics,
    expected,
    budget: { profile: 'exclusive' as const, share: 1 },
    ...(callTimeoutMs !== undefined && { callTimeoutMs }),
    ...(tagForm !== undefined && { tagForm }),
  }
}

/** A fake, as far as all are steered alike. */
interface Fake<Scope, Call> {
  onCall: ((call: Call) => void) | undefined
  inject(fault: CommonFault, scope: Scope): InjectedFault
  counts(): Readonly<Record<string, { readonly calls: number }>>
  readonly inFlight: number
  release(): void
  landed(): Promise<void>
}

/** Faults by kind of call, for a fake that knows them by the names of calls. */
export function steering<Scope, Call>(
  fake: Fake<Scope, Call>,
  {
    names,
    scopeOf,
    nameOf,
    nameMatches = (name, counted) => name === counted,
  }: {
    readonly names: Readonly<Record<CallKind, readonly string[]>>
    readonly scopeOf: (name: string, times: number) => Scope
    readonly nameOf: (call: Call) => string
    readonly nameMatches?: (name: string, counted: string) => boolean
  },
): Pick<CloudSubject, 'inject' | 'beforeNext' | 'callsOf' | 'calls' | 'inFlight' | 'release' | 'landed'> & {
  readonly each: (call: CallKind, times: number, inject: (scope: Scope) => InjectedFault) => InjectedFault
} {
  const each = (call: CallKind, times: number, inject: (scope: Scope) => InjectedFault): InjectedFault =>
    together(names[call].map((name) => inject(scopeOf(name, times))))
  const isOf = (call: CallKind, called: string) => names[call].some((name) => nameMatches(name, called))
  const sum = (counts: (name: string) => boolean) =>
    Object.entries(fake.counts()).reduce((total, [name, { calls }]) => (counts(name) ? total + calls : total), 0)
  return {
    each,
    beforeNext: (kind, act) => {
      fake.onCall = (call) => {
        if (!isOf(kind, nameOf(call))) return
        fake.onCall = undefined
        act()
      }
    },
    inject: (fault, call, times = 1) => each(call, times, (scope) => fake.inject(fault, scope)),
    callsOf: (call) => sum((name) => isOf(call, name)),
    calls: () => sum(() => true),
    inFlight: () => fake.inFlight,
    release: () => fake.release(),
    landed: () => fake.landed(),
  }
}

/** Several faults as one. */
function together(faults: readonly InjectedFault[]): InjectedFault {
  return {
    get hits() {
      return faults.reduce((sum, { hits }) => sum + hits, 0)
    },
    clear() {
      for (const fault of faults) fault.clear()
    },
  }
}
