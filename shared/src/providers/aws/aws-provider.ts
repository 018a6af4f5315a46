import type { DiskRef } from '../../claims/disk.ts'
import type { TagChanges } from '../../plan/tag-changes.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Random } from '../../runtime/random.ts'
import { ownForm } from '../../tags/tag-form.ts'
import type { TagForm } from '../../tags/tag-form.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import { AccountBudget } from '../account-budget.ts'
import type { CloudMetrics } from '../cloud-metrics.ts'
import { MeteredCalls } from '../metered.ts'
import type { CallOptions, DiskProvider, Lane, ObservedTags, WriteOptions } from '../provider.ts'
import { ProviderError } from '../provider-error.ts'
import { ReadBatcher } from '../read-batcher.ts'
import type { ExpectedCompany, RunningProvider, ScopeStatus } from '../running-provider.ts'
import { SlowLane } from '../slow-lane.ts'
import type { OpenPot } from '../token-pot.ts'
import { WriteBatcher } from '../write-batcher.ts'
import type { BudgetProfile } from './budget-profiles.ts'
import { budgetProfiles } from './budget-profiles.ts'
import type { Ec2Api, Ec2ApiOptions } from './ec2-api.ts'
import { readPort, writePort } from './ec2-ports.ts'
import { isKnownCode } from './errors.ts'
import { normalize, tagsPerDisk } from './normalize.ts'
import { isProtectedKey } from './protected-keys.ts'
import { isVolumeId } from './volume-id.ts'

/** EC2's answers may be that old: "eventual consistency", in practice seconds. */
const readLagMs = 120_000
const defaultCallTimeoutMs = 10_000

export interface AwsProviderDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: CloudMetrics
  /** `share` in (0, 1]: this process's part of what the installation may use. */
  readonly budget: { readonly profile: BudgetProfile; readonly share: number; readonly openPot?: OpenPot | undefined }
  readonly random: Random
  readonly expected: ExpectedCompany
  readonly region?: string | undefined
  readonly endpoint?: string | undefined
  readonly callTimeoutMs?: number | undefined
  /** Our own, with no protected key allowed, where it is missing. */
  readonly tagForm?: TagForm | undefined
  readonly credentials?: Ec2ApiOptions['credentials']
  readonly proxyEnv?: Ec2ApiOptions['proxyEnv']
}

/** Loads the SDK; makes no call. Throws where no region is to be found. */
export async function createAwsProvider(deps: AwsProviderDeps): Promise<RunningProvider> {
  const { createEc2Api } = await import('./ec2-api.ts')
  return new AwsProvider(deps, await createEc2Api(deps))
}

/** EBS volumes of one account and region: every read and write shares its calls with others where it can. */
export class AwsProvider implements RunningProvider {
  readonly name = 'aws'
  readonly replacesWholeSet = false
  readonly tagsPerDisk = tagsPerDisk
  readonly readLagMs = readLagMs
  readonly #api: Ec2Api
  readonly #form: TagForm
  readonly #scope: string
  readonly #budget: AccountBudget
  readonly #slowLane: SlowLane
  readonly #calls: MeteredCalls
  readonly #reads: ReadBatcher
  readonly #writes: WriteBatcher

  constructor(deps: AwsProviderDeps, api: Ec2Api) {
    const { clock, expected } = deps
    this.#api = api
    this.#form = deps.tagForm ?? ownForm
    // The account's number would cost a call to STS, and one process has one account.
    this.#scope = `aws/${api.region}`
    this.#budget = new AccountBudget({
      clock,
      rates: budgetProfiles[deps.budget.profile],
      share: deps.budget.share,
      openPot: deps.budget.openPot,
    })
    this.#slowLane = new SlowLane({ clock, random: deps.random })
    this.#calls = new MeteredCalls({
      provider: this.name,
      scope: this.#scope,
      clock,
      logger: deps.logger,
      metrics: deps.metrics,
      budget: this.#budget,
      slowLane: this.#slowLane,
      timeoutMs: deps.callTimeoutMs ?? defaultCallTimeoutMs,
      isKnownCode,
    })
    const shared = { clock, budget: this.#budget, slowLane: this.#slowLane }
    this.#reads = new ReadBatcher({
      ...shared,
      expecting: (lane) => expected.readsToCome(lane),
      port: readPort(api, this.#calls),
    })
    this.#writes = new WriteBatcher({
      ...shared,
      expecting: (lane) => expected.writesToCome(lane),
      port: writePort(api, this.#calls),
    })
  }

  scopeOf(): string {
    return this.#scope
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

  async getTags(disk: DiskRef, options: CallOptions): Promise<ObservedTags> {
    refuseForeignId(disk)
    return this.#reads.read(disk.id, options)
  }

  async applyChanges(
    disk: DiskRef,
    changes: TagChanges,
    _observed: ObservedTags | undefined,
    options: WriteOptions,
  ): Promise<void> {
    refuseForeignId(disk)
    return this.#writes.apply(disk.id, changes, options)
  }

  async *listTags(
    disks: readonly DiskRef[],
    options: CallOptions,
  ): AsyncGenerator<{ readonly disk: DiskRef; readonly observed: ObservedTags }> {
    const ids = new Set(disks.map(({ id }) => id).filter(isVolumeId))
    for await (const [id, observed] of this.#reads.list(ids, options)) yield { disk: { id }, observed }
  }

  poke(): void {
    this.#reads.poke()
    this.#writes.poke()
  }

  isSlow(scope: string): boolean {
    return scope === this.#scope && this.#slowLane.isSlow()
  }

  status(): readonly ScopeStatus[] {
    const waiting = (lane: Lane) => this.#reads.waiting(lane) + this.#writes.waiting(lane)
    return [
      {
        scope: this.#scope,
        slow: this.#slowLane.isSlow(),
        pausedForMs: this.#budget.pausedForMs,
        budgets: this.#budget.status(),
        waiting: { fresh: waiting('fresh'), bulk: waiting('bulk') },
        underWay: this.#reads.unitsUnderWay + this.#writes.unitsUnderWay,
      },
    ]
  }

  async stop(): Promise<void> {
    await Promise.all([this.#reads.stop(), this.#writes.stop()])
    this.#api.close()
  }
}

/** A handle of another driver must never reach EC2, where it might name something else. */
function refuseForeignId({ id }: DiskRef): void {
  if (!isVolumeId(id)) throw new ProviderError('invalid', `${JSON.stringify(id)} is not the id of an EBS volume`)
}
