import { azureDiskIdOf, azureDiskNameOf } from '../../claims/azure-disk.ts'
import type { DiskRef } from '../../claims/disk.ts'
import type { TagChanges } from '../../plan/tag-changes.ts'
import { ownForm } from '../../tags/tag-form.ts'
import type { TagForm } from '../../tags/tag-form.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import { AccountBudget } from '../account-budget.ts'
import type { CallOptions, DiskProvider, ObservedTags, WriteOptions } from '../provider.ts'
import { ProviderError } from '../provider-error.ts'
import type { RunningProvider, ScopeStatus } from '../running-provider.ts'
import { SlowLane } from '../slow-lane.ts'
import type { ArmApi, ArmApiOptions } from './arm-api.ts'
import { queryGraph } from './arm-ports.ts'
import { budgetProfiles } from './budget-profiles.ts'
import { GraphSweep } from './graph-sweep.ts'
import { normalize, tagsPerDisk } from './normalize.ts'
import { isProtectedKey } from './protected-keys.ts'
import { SettlingDisks } from './settling-disks.ts'
import type { ResourceGroupScope, ScopeDeps } from './subscription-scope.ts'
import { SubscriptionScope, quotaWatch } from './subscription-scope.ts'
import { foldedName } from './tag-names.ts'

/** Resource Graph: 95 % of all changes within 30 s, and no bound for the rest. */
const readLagMs = 600_000
const defaultCallTimeoutMs = 10_000
/** Azure carries out an accepted write within seconds; its own clients wait longer, since they poll. */
const defaultQuietMs = 5000

export interface AzureProviderDeps extends Omit<ScopeDeps, 'api' | 'settling' | 'callTimeoutMs'> {
  readonly callTimeoutMs?: number | undefined
  /** Of a sovereign cloud; see `ArmApiOptions`. */
  readonly resourceManagerEndpoint?: string | undefined
  readonly authorityHost?: string | undefined
  readonly credential?: ArmApiOptions['credential']
  readonly proxyEnv?: ArmApiOptions['proxyEnv']
  /** Our own, with no protected key allowed, where it is missing. */
  readonly tagForm?: TagForm | undefined
  /** How long a disk is left alone after a write that was accepted, in milliseconds; see `SettlingDisks`. */
  readonly quietAfterWriteMs?: number | undefined
}

/** Loads the SDK; makes no call. Throws for an endpoint that is no URL. */
export async function createAzureProvider(deps: AzureProviderDeps): Promise<RunningProvider> {
  const { createArmApi } = await import('./arm-api.ts')
  return new AzureProvider(deps, createArmApi(deps))
}

/**
 * Managed disks of any subscription that the identity may write to. Single reads and writes are one call a disk, paced by
 * subscription; sweeps go by Resource Graph.
 *
 * Tag names count without their case. What `normalize` and the reads return is found in any case, so that a wished `App`
 * and an observed `app` are one tag to the planner, and `canonicalKey` lets a record know its tag again in another case.
 */
export class AzureProvider implements RunningProvider {
  readonly name = 'azure'
  readonly replacesWholeSet = false
  readonly tagsPerDisk = tagsPerDisk
  readonly readLagMs = readLagMs
  readonly #api: ArmApi
  readonly #form: TagForm
  readonly #scopeDeps: ScopeDeps
  readonly #settling: SettlingDisks
  readonly #subscriptions = new Map<string, SubscriptionScope>()
  readonly #graphBudget: AccountBudget
  readonly #sweep: GraphSweep
  readonly #graphScope = 'azure/resource-graph'
  #stopped = false

  constructor(deps: AzureProviderDeps, api: ArmApi) {
    const { budget, clock, random } = deps
    this.#api = api
    this.#form = deps.tagForm ?? ownForm
    this.#settling = new SettlingDisks({ clock, quietMs: deps.quietAfterWriteMs ?? defaultQuietMs })
    const callTimeoutMs = deps.callTimeoutMs ?? defaultCallTimeoutMs
    this.#scopeDeps = { ...deps, api, callTimeoutMs, settling: this.#settling }
    const rates = budgetProfiles[budget.profile].graph
    this.#graphBudget = new AccountBudget({ clock, rates, share: budget.share })
    const slowLane = new SlowLane({ clock, random })
    const calls = quotaWatch(this.#scopeDeps, { scope: this.#graphScope, budget: this.#graphBudget, slowLane })
    this.#sweep = new GraphSweep({ clock, budget: this.#graphBudget, slowLane, query: queryGraph(api, calls) })
  }

  /** A disk's resource group, which has a slow lane of its own; all groups of a subscription share a budget. */
  scopeOf(disk: DiskRef): string {
    const name = azureDiskNameOf(disk.id)
    return name === undefined ? 'azure' : `azure/${name.subscription}/${name.resourceGroup}`
  }

  normalize(desired: TagSet, enforced?: ReadonlySet<string>): ReturnType<DiskProvider['normalize']> {
    return normalize(desired, { form: this.#form, enforced })
  }

  isProtectedKey(key: string): boolean {
    return isProtectedKey(key, this.#form.allowedKeys)
  }

  canonicalKey(key: string): string {
    return foldedName(key)
  }

  /** Waits until a write of ours that was accepted a moment ago can be seen. */
  async getTags(disk: DiskRef, options: CallOptions): Promise<ObservedTags> {
    const { id, group } = this.#placeOf(disk)
    await this.#settling.settled(id, options.signal)
    return group.reads.read(id, options)
  }

  async applyChanges(
    disk: DiskRef,
    changes: TagChanges,
    observed: ObservedTags | undefined,
    options: WriteOptions,
  ): Promise<void> {
    const { id, group } = this.#placeOf(disk)
    return group.writer.apply({ disk: id, changes, observed, options })
  }

  async *listTags(
    disks: readonly DiskRef[],
    options: CallOptions,
  ): AsyncGenerator<{ readonly disk: DiskRef; readonly observed: ObservedTags }> {
    const asked = new Map<string, DiskRef>()
    for (const disk of disks) {
      const id = azureDiskIdOf(disk.id)
      if (id !== undefined) asked.set(id, disk)
    }
    for await (const [id, observed] of this.#sweep.list(asked.keys(), options)) {
      yield { disk: asked.get(id) ?? { id }, observed }
    }
  }

  /** No batch waits for company here. */
  poke(): void {}

  isSlow(scope: string): boolean {
    return this.#groups().some((group) => group.name === scope && group.isSlow)
  }

  status(): readonly ScopeStatus[] {
    return [
      ...[...this.#subscriptions.values()].flatMap((subscription) => subscription.status()),
      {
        scope: this.#graphScope,
        slow: false,
        pausedForMs: this.#graphBudget.pausedForMs,
        budgets: this.#graphBudget.status(),
        waiting: { fresh: 0, bulk: 0 },
        underWay: this.#sweep.sweepsUnderWay,
      },
    ]
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#sweep.stop()
    this.#settling.stop()
    await Promise.all(this.#groups().map((group) => group.stop()))
    this.#api.close()
  }

  /** A handle of another driver must never reach ARM, where it might name something else. */
  #placeOf({ id }: DiskRef): { readonly id: string; readonly group: ResourceGroupScope } {
    const canonical = azureDiskIdOf(id)
    const name = azureDiskNameOf(id)
    if (canonical === undefined || name === undefined) {
      throw new ProviderError('invalid', `${JSON.stringify(id)} is not the id of an Azure managed disk`)
    }
    if (this.#stopped) throw new ProviderError('unavailable', 'not sent: the provider is stopping')
    let subscription = this.#subscriptions.get(name.subscription)
    if (subscription === undefined) {
      subscription = new SubscriptionScope(name.subscription, this.#scopeDeps)
      this.#subscriptions.set(name.subscription, subscription)
    }
    return { id: canonical, group: subscription.group(name.resourceGroup) }
  }

  #groups(): readonly ResourceGroupScope[] {
    return [...this.#subscriptions.values()].flatMap(({ groups }) => groups)
  }
}
