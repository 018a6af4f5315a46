import type { Clock } from '../../runtime/clock.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import type { AccountBudget, CallNeeds } from '../account-budget.ts'
import { BatchQueue, notSent, type Departure, type WaitingGroups } from '../batch-queue.ts'
import { CallSlots } from '../call-slots.ts'
import { Preparations } from '../preparations.ts'
import type { Lane } from '../provider.ts'
import { ProviderError, asProviderError } from '../provider-error.ts'
import type { SlowLane } from '../slow-lane.ts'
import type { TagPatch } from './arm-api.ts'
import { readOperation, writeOperation, type PatchDisk, type ReadDisk } from './arm-ports.ts'
import { DiskWrite, type DiskWriteInit } from './disk-write.ts'
import type { SettlingDisks } from './settling-disks.ts'
import { TagsByName } from './tag-names.ts'

export interface DiskWriterDeps {
  readonly clock: Clock
  readonly budget: AccountBudget
  readonly slowLane: SlowLane
  readonly settling: SettlingDisks
  readonly read: ReadDisk
  readonly patch: PatchDisk
}

interface WriteUnit extends Departure<DiskWrite> {
  readonly job: DiskWrite
}

/**
 * Writes disks one by one, which is all that Azure offers: at most one Delete and one Merge each, in this order, so that
 * a full disk has room for what is new. The order for each: tokens, then `beforeSend`, then the calls.
 *
 * A tag is deleted only where a read, or what the caller observed, shows that its value is ours: Azure documents that a
 * Delete may name a value, not that it spares another one. It is named all the same.
 */
export class DiskWriter {
  readonly #deps: DiskWriterDeps
  readonly #queue: BatchQueue<DiskWrite, WriteUnit>
  readonly #preparations: Preparations<DiskWrite>
  readonly #stopping = new AbortController()

  constructor(deps: DiskWriterDeps) {
    this.#deps = deps
    this.#preparations = new Preparations({ clock: deps.clock, onLate: (job) => this.#queue.addBack(job) })
    this.#queue = new BatchQueue({
      clock: deps.clock,
      budget: deps.budget,
      slots: new CallSlots({ clock: deps.clock }),
      // Company saves no call here.
      expecting: () => 0,
      fullAt: 1,
      callsLeft: (_kind, lane) => deps.budget.callsLeft(writeOperation, lane),
      choose: (waiting, leading) => this.#choose(waiting, leading),
      send: (unit) => this.#send(unit),
      giveUp: (job, error) => job.fail(error),
    })
  }

  /** See `DiskProvider.applyChanges`. */
  async apply(init: Omit<DiskWriteInit, 'arrivedAtMs'>): Promise<void> {
    const { clock, settling, slowLane } = this.#deps
    const job = new DiskWrite({ ...init, arrivedAtMs: clock.monotonicMs() })
    if (job.isEmpty) return
    const admission = slowLane.admit(writeOperation)
    if (admission instanceof ProviderError) throw admission
    job.probes = admission === 'probe'
    try {
      await settling.settled(job.disk, job.signal)
      this.#queue.add(job)
      await job.done
    } finally {
      if (job.probes) slowLane.probeEnded(writeOperation)
    }
  }

  waiting(lane: Lane): number {
    return this.#queue.waiting(lane)
  }

  get unitsUnderWay(): number {
    return this.#queue.unitsUnderWay
  }

  /** What was not sent is given up; resolves when what was sent has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#preparations.stop(notSent('the provider is stopping'))
    await this.#queue.stop()
  }

  #choose(waiting: WaitingGroups<DiskWrite>, leading: string): WriteUnit {
    const [job] = waiting.get(leading) ?? []
    if (job === undefined) throw new Error('the leading group is not among those that wait')
    return { job, jobs: [job], needs: job.needsAt(this.#deps.clock.monotonicMs()) }
  }

  async #send({ job, needs }: WriteUnit): Promise<void> {
    const tokens = new Tokens(needs)
    try {
      const slow = job.probes ? undefined : this.#deps.slowLane.refusalFor(writeOperation)
      if (slow !== undefined) return job.fail(slow)
      const [ready] = await this.#preparations.prepare([job])
      if (ready !== undefined) await this.#carryOut(ready, tokens)
    } finally {
      this.#deps.budget.giveBack(tokens.left)
    }
  }

  async #carryOut(job: DiskWrite, tokens: Tokens): Promise<void> {
    try {
      const refused = job.remove.size > 0 ? await this.#remove(job, tokens) : undefined
      if (job.set.size > 0) {
        await this.#deps.settling.settled(job.disk, job.signal, this.#stopping.signal)
        await this.#patch('Merge', job, { tags: job.set, tokens })
      }
      if (refused !== undefined) throw refused
      job.succeed()
    } catch (error) {
      job.fail(asProviderError(error))
    }
  }

  /** Resolves to a refusal that need not keep the other tags from being set. */
  async #remove(job: DiskWrite, tokens: Tokens): Promise<ProviderError | undefined> {
    try {
      const ours = tagsToDelete(job, await this.#present(job, tokens))
      if (ours.size > 0) await this.#patch('Delete', job, { tags: ours, tokens })
      return undefined
    } catch (error) {
      if (error instanceof ProviderError && (error.kind === 'denied' || error.kind === 'invalid')) return error
      throw error
    }
  }

  async #present(job: DiskWrite, tokens: Tokens): Promise<TagSet> {
    const { clock, read, slowLane } = this.#deps
    // The read was paid for unless the observation was young enough when the job left.
    const observed = tokens.has(readOperation) ? undefined : job.observedAt(clock.monotonicMs())
    if (observed !== undefined) return observed
    const slow = slowLane.refusalFor(readOperation)
    if (slow !== undefined) throw slow
    this.#refuseWhereLate(job)
    tokens.spend(readOperation)
    return this.#noted(readOperation, job, async () => (await read(job.disk)).tags)
  }

  async #patch(
    operation: TagPatch,
    job: DiskWrite,
    { tags, tokens }: { readonly tags: TagSet; readonly tokens: Tokens },
  ): Promise<void> {
    this.#refuseWhereLate(job)
    tokens.spend(writeOperation)
    try {
      const answer = await this.#noted(writeOperation, job, () => this.#deps.patch(job.disk, operation, tags))
      if (answer === 'accepted') this.#deps.settling.written(job.disk)
      job.changed()
    } catch (error) {
      if (asProviderError(error).outcomeUnknown) this.#deps.settling.written(job.disk)
      throw error
    }
  }

  /** Every call is about one disk, so each denial counts. */
  async #noted<Answer>(operation: string, { disk }: DiskWrite, call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call()
    } catch (error) {
      if (error instanceof ProviderError && error.kind === 'denied') this.#deps.slowLane.deniedSingly(operation, disk)
      throw error
    }
  }

  #refuseWhereLate(job: DiskWrite): void {
    if (this.#stopping.signal.aborted) throw notSent('the provider is stopping')
    const refusal = job.refusalAt(this.#deps.clock.monotonicMs())
    if (refusal !== undefined) throw refusal
  }
}

/** Those of the names that stand there under a value that is ours, each with that value. */
function tagsToDelete({ remove }: DiskWrite, present: TagSet): TagSet {
  const ours = new TagsByName()
  for (const [name, values] of remove) {
    const value = present.get(name)
    if (value !== undefined && values.includes(value)) ours.set(name, value)
  }
  return ours
}

/** The tokens that a departing unit has taken, and what it has not used of them. */
class Tokens {
  readonly #left: Map<string, number>

  constructor(taken: CallNeeds) {
    this.#left = new Map(taken)
  }

  has(operation: string): boolean {
    return (this.#left.get(operation) ?? 0) > 0
  }

  spend(operation: string): void {
    this.#left.set(operation, (this.#left.get(operation) ?? 0) - 1)
  }

  /** Below 0 where more was called than was paid for: the debt is the budget's to remember. */
  get left(): CallNeeds {
    return this.#left
  }
}
