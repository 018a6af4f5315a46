import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Random } from '../../runtime/random.ts'
import { AccountBudget } from '../account-budget.ts'
import type { CloudMetrics } from '../cloud-metrics.ts'
import { MeteredCalls } from '../metered.ts'
import type { Lane } from '../provider.ts'
import { ReadBatcher } from '../read-batcher.ts'
import type { ScopeStatus } from '../running-provider.ts'
import { SlowLane } from '../slow-lane.ts'
import type { ArmApi } from './arm-api.ts'
import { patchDisk, readDisk, readPort } from './arm-ports.ts'
import { budgetProfiles, type BudgetProfile } from './budget-profiles.ts'
import { DiskWriter } from './disk-writer.ts'
import { isKnownCode } from './errors.ts'
import { QuotaWatch } from './quota-watch.ts'
import type { SettlingDisks } from './settling-disks.ts'

export interface ScopeDeps {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: CloudMetrics
  readonly budget: { readonly profile: BudgetProfile; readonly share: number }
  readonly callTimeoutMs: number
  readonly api: ArmApi
  readonly settling: SettlingDisks
}

/** What counts calls for one budget and one set of permissions. */
export function quotaWatch(
  { clock, logger, metrics, callTimeoutMs }: Omit<ScopeDeps, 'api' | 'settling'>,
  parts: { readonly scope: string; readonly budget: AccountBudget; readonly slowLane: SlowLane },
): QuotaWatch {
  const calls = new MeteredCalls({
    provider: 'azure',
    clock,
    logger,
    metrics,
    ...parts,
    timeoutMs: callTimeoutMs,
    isKnownCode,
  })
  return new QuotaWatch({ calls, budget: parts.budget, clock })
}

/** One subscription: a budget for all its resource groups. */
export class SubscriptionScope {
  readonly name: string
  readonly #deps: ScopeDeps
  readonly #budget: AccountBudget
  readonly #groups = new Map<string, ResourceGroupScope>()

  constructor(subscription: string, deps: ScopeDeps) {
    this.name = `azure/${subscription}`
    this.#deps = deps
    this.#budget = new AccountBudget({
      clock: deps.clock,
      rates: budgetProfiles[deps.budget.profile].arm,
      share: deps.budget.share,
    })
  }

  group(name: string): ResourceGroupScope {
    const known = this.#groups.get(name)
    if (known !== undefined) return known
    const group = new ResourceGroupScope(`${this.name}/${name}`, this.#budget, this.#deps)
    this.#groups.set(name, group)
    return group
  }

  get groups(): readonly ResourceGroupScope[] {
    return [...this.#groups.values()]
  }

  /** The budget is told once, not for each resource group. */
  status(): readonly ScopeStatus[] {
    const ofGroups = this.groups.map((group) => group.status())
    const waiting = (lane: Lane) => ofGroups.reduce((sum, status) => sum + status.waiting[lane], 0)
    return [
      {
        scope: this.name,
        slow: ofGroups.length > 0 && ofGroups.every(({ slow }) => slow),
        pausedForMs: this.#budget.pausedForMs,
        budgets: this.#budget.status(),
        waiting: { fresh: waiting('fresh'), bulk: waiting('bulk') },
        underWay: ofGroups.reduce((sum, { underWay }) => sum + underWay, 0),
      },
      ...ofGroups,
    ]
  }
}

/**
 * One resource group: what is denied is denied by group, since rights, locks and AKS's own lockdown are given so. A
 * locked group must not slow the others.
 */
export class ResourceGroupScope {
  readonly name: string
  readonly reads: ReadBatcher
  readonly writer: DiskWriter
  readonly #slowLane: SlowLane
  readonly #budget: AccountBudget

  constructor(name: string, budget: AccountBudget, deps: ScopeDeps) {
    const { api, clock, random, settling } = deps
    this.name = name
    this.#budget = budget
    this.#slowLane = new SlowLane({ clock, random })
    const calls = quotaWatch(deps, { scope: name, budget, slowLane: this.#slowLane })
    const read = readDisk(api, calls)
    const shared = { clock, budget, slowLane: this.#slowLane }
    // One disk a call: there is no company to wait for.
    this.reads = new ReadBatcher({ ...shared, expecting: () => 0, port: readPort(read) })
    this.writer = new DiskWriter({ ...shared, settling, read, patch: patchDisk(api, calls) })
  }

  get isSlow(): boolean {
    return this.#slowLane.isSlow()
  }

  status(): ScopeStatus {
    const waiting = (lane: Lane) => this.reads.waiting(lane) + this.writer.waiting(lane)
    return {
      scope: this.name,
      slow: this.isSlow,
      pausedForMs: this.#budget.pausedForMs,
      budgets: [],
      waiting: { fresh: waiting('fresh'), bulk: waiting('bulk') },
      underWay: this.reads.unitsUnderWay + this.writer.unitsUnderWay,
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.reads.stop(), this.writer.stop()])
  }
}
