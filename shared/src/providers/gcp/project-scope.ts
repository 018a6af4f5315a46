import { gcpDiskId } from '../../claims/gcp-disk.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Random } from '../../runtime/random.ts'
import { AccountBudget } from '../account-budget.ts'
import { notSent } from '../batch-queue.ts'
import type { CloudMetrics } from '../cloud-metrics.ts'
import { MeteredCalls } from '../metered.ts'
import type { CallOptions, Lane, ObservedTags } from '../provider.ts'
import { ProviderError } from '../provider-error.ts'
import { ReadBatcher } from '../read-batcher.ts'
import type { ScopeStatus } from '../running-provider.ts'
import { SlowLane } from '../slow-lane.ts'
import { budgetProfiles, type BudgetProfile } from './budget-profiles.ts'
import type { ComputeApi, DiskFolder } from './compute-api.ts'
import { listDisks, listOperation, orMissing, readPort, setLabels, type ListDisks } from './compute-ports.ts'
import { isKnownCode } from './errors.ts'
import { sweepFolder } from './folder-sweep.ts'
import { LabelWriter } from './label-writer.ts'

export interface ScopeDeps {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: CloudMetrics
  /** `share` in (0, 1]: this process's part of what the installation may use. */
  readonly budget: { readonly profile: BudgetProfile; readonly share: number }
  readonly callTimeoutMs: number
}

/** One project: a budget, the permissions there, and the queues of its disks. */
export class ProjectScope {
  readonly name: string
  readonly reads: ReadBatcher
  readonly writer: LabelWriter
  readonly #budget: AccountBudget
  readonly #slowLane: SlowLane
  readonly #list: ListDisks
  readonly #stopping = new AbortController()

  constructor(project: string, api: ComputeApi, deps: ScopeDeps) {
    const { clock, logger, metrics, random } = deps
    this.name = `gcp/${project}`
    this.#budget = new AccountBudget({ clock, rates: budgetProfiles[deps.budget.profile], share: deps.budget.share })
    this.#slowLane = new SlowLane({ clock, random })
    const shared = { clock, budget: this.#budget, slowLane: this.#slowLane }
    const calls = new MeteredCalls({
      ...shared,
      provider: 'gcp',
      scope: this.name,
      logger,
      metrics,
      timeoutMs: deps.callTimeoutMs,
      isKnownCode,
    })
    this.#list = listDisks(api, calls)
    // One disk a call: there is no company to wait for.
    this.reads = new ReadBatcher({ ...shared, expecting: () => 0, port: readPort(api, calls) })
    this.writer = new LabelWriter({ ...shared, setLabels: setLabels(api, calls) })
  }

  /** Of these disks, by their names, those that are there. One call at a time: a sweep is in no hurry. */
  async *sweep(
    folder: DiskFolder,
    names: Iterable<string>,
    options: CallOptions,
  ): AsyncGenerator<readonly [name: string, observed: ObservedTags]> {
    const admission = this.#slowLane.admit(listOperation)
    if (admission instanceof ProviderError) throw admission
    const signal = AbortSignal.any([options.signal, this.#stopping.signal])
    try {
      yield* sweepFolder(names, {
        list: async (query) => {
          await this.#pace(options.lane, signal)
          return this.#noted(folder, this.#list(folder, query))
        },
        get: (disk) => orMissing(this.reads.read(gcpDiskId({ ...folder, disk }), { ...options, signal })),
      })
    } finally {
      this.#slowLane.probeEnded(listOperation)
    }
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
      budgets: this.#budget.status(),
      waiting: { fresh: waiting('fresh'), bulk: waiting('bulk') },
      underWay: this.reads.unitsUnderWay + this.writer.unitsUnderWay,
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([this.reads.stop(), this.writer.stop()])
  }

  async #pace(lane: Lane, signal: AbortSignal): Promise<void> {
    const mine = await this.#budget.take(listOperation, { lane, signal })
    if (!mine) throw notSent('the caller gave it up, or the provider is stopping')
  }

  async #noted<Answer>({ place }: DiskFolder, call: Promise<Answer>): Promise<Answer> {
    try {
      return await call
    } catch (error) {
      if (error instanceof ProviderError && error.kind === 'denied') {
        this.#slowLane.deniedSingly(listOperation, place.name)
      }
      throw error
    }
  }
}
