import { gcpDiskId } from '../../claims/gcp-disk.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { AccountBudget } from '../account-budget.ts'
import { BatchQueue, notSent, type Departure, type WaitingGroups } from '../batch-queue.ts'
import { CallSlots } from '../call-slots.ts'
import { Preparations } from '../preparations.ts'
import type { Lane } from '../provider.ts'
import { ProviderError, asProviderError } from '../provider-error.ts'
import type { SlowLane } from '../slow-lane.ts'
import { writeOperation, type SetLabels } from './compute-ports.ts'
import { LabelWrite, type LabelWriteInit } from './label-write.ts'

export interface LabelWriterDeps {
  readonly clock: Clock
  readonly budget: AccountBudget
  readonly slowLane: SlowLane
  readonly setLabels: SetLabels
}

interface WriteUnit extends Departure<LabelWrite> {
  readonly job: LabelWrite
}

/** No call can be shared, and each takes Google up to a second: with fewer in flight the budget would lie idle. */
const callsInFlightMax = 16

/**
 * Writes disks one by one, which is all that Google offers, for one project. The order for each: a token, then
 * `beforeSend`, then the call. A disk that changed since it was read is left to the caller, who reads it again.
 */
export class LabelWriter {
  readonly #deps: LabelWriterDeps
  readonly #queue: BatchQueue<LabelWrite, WriteUnit>
  readonly #preparations: Preparations<LabelWrite>
  #stopped = false

  constructor(deps: LabelWriterDeps) {
    this.#deps = deps
    this.#preparations = new Preparations({ clock: deps.clock, onLate: (job) => this.#queue.addBack(job) })
    this.#queue = new BatchQueue({
      clock: deps.clock,
      budget: deps.budget,
      slots: new CallSlots({ clock: deps.clock, limit: callsInFlightMax }),
      // Company saves no call here.
      expecting: () => 0,
      fullAt: 1,
      callsLeft: (_kind, lane) => deps.budget.callsLeft(writeOperation, lane),
      choose: (waiting, leading) => choose(waiting, leading),
      send: (unit) => this.#send(unit),
      giveUp: (job, error) => job.fail(error),
    })
  }

  /** See `DiskProvider.applyChanges`. */
  async apply(init: Omit<LabelWriteInit, 'arrivedAtMs'>): Promise<void> {
    const { clock, slowLane } = this.#deps
    const job = new LabelWrite({ ...init, arrivedAtMs: clock.monotonicMs() })
    if (job.isEmpty) return
    const admission = slowLane.admit(writeOperation)
    if (admission instanceof ProviderError) throw admission
    job.probes = admission === 'probe'
    try {
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
    this.#stopped = true
    this.#preparations.stop(notSent('the provider is stopping'))
    await this.#queue.stop()
  }

  async #send({ job, needs }: WriteUnit): Promise<void> {
    const { budget, clock, setLabels, slowLane } = this.#deps
    let sent = false
    try {
      const slow = job.probes ? undefined : slowLane.refusalFor(writeOperation)
      if (slow !== undefined) throw slow
      const [ready] = await this.#preparations.prepare([job])
      if (ready === undefined) return
      const refusal = this.#stopped ? notSent('the provider is stopping') : job.refusalAt(clock.monotonicMs())
      if (refusal !== undefined) throw refusal
      const { labelSet } = job
      sent = true
      await setLabels(job.disk, labelSet)
      job.succeed()
    } catch (thrown) {
      const error = asProviderError(thrown)
      if (sent && error.kind === 'denied') slowLane.deniedSingly(writeOperation, gcpDiskId(job.disk))
      job.fail(error)
    } finally {
      if (!sent) budget.giveBack(needs)
    }
  }
}

function choose(waiting: WaitingGroups<LabelWrite>, leading: string): WriteUnit {
  const [job] = waiting.get(leading) ?? []
  if (job === undefined) throw new Error('the leading group is not among those that wait')
  return { job, jobs: [job], needs: new Map([[writeOperation, 1]]) }
}
