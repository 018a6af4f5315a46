import type { TagChanges } from '../plan/tag-changes.ts'
import type { Clock } from '../runtime/clock.ts'
import type { AccountBudget, CallNeeds, CallsLeft } from './account-budget.ts'
import type { Departure, WaitingGroups } from './batch-queue.ts'
import { BatchQueue, notSent } from './batch-queue.ts'
import { CallSlots } from './call-slots.ts'
import { inParallel } from './in-parallel.ts'
import type { IsolationPort, RefusalCodes } from './isolation.ts'
import { sendIsolating } from './isolation.ts'
import { Preparations } from './preparations.ts'
import type { Lane, WriteOptions } from './provider.ts'
import type { ProviderError } from './provider-error.ts'
import type { SlowLane } from './slow-lane.ts'
import type { Operation, Pair, WriteCall, WriteGroup } from './write-grouping.ts'
import { chooseWrites, operations } from './write-grouping.ts'
import { WriteJob } from './write-job.ts'

/** A cloud where one call writes the same tags to many disks. */
export interface WritePort {
  /** The cloud's name of each operation: its bucket in the budget, its permission, its metric. */
  readonly names: Readonly<Record<Operation, string>>
  readonly idsPerCall: number
  readonly codes: RefusalCodes
  /** For all of these disks or for none; throws ProviderError. */
  send(operation: Operation, pairs: readonly Pair[], disks: readonly string[]): Promise<void>
  /** The disks that an error names as its cause. */
  namedIn(error: ProviderError): ReadonlySet<string>
}

export interface WriteBatcherDeps {
  readonly clock: Clock
  readonly budget: AccountBudget
  readonly slowLane: SlowLane
  readonly expecting: (lane: Lane) => number
  readonly port: WritePort
}

interface WriteUnit extends Departure<WriteJob> {
  readonly lane: Lane
  readonly calls: readonly WriteCall<WriteJob>[]
}

/** A disk whose tags are spread over several calls waits for all of them, with its promise to write open. */
const callsAtOnceMax = 32
const refusedDisksRemembered = 1000

/**
 * Turns the writes of single disks into few calls, for one account scope. The order for each departing unit: tokens,
 * then the members' `beforeSend`, then the calls. So no promise to write is recorded while a job only waits for its
 * turn, and nothing is sent after its deadline.
 */
export class WriteBatcher {
  readonly #deps: WriteBatcherDeps
  readonly #queue: BatchQueue<WriteJob, WriteUnit>
  readonly #slots: CallSlots
  readonly #preparations: Preparations<WriteJob>
  readonly #stopping = new AbortController()
  /** Disks that were refused singly: they travel alone, or each sweep would split its batches for them again. */
  readonly #refusedDisks = new Set<string>()

  constructor(deps: WriteBatcherDeps) {
    this.#deps = deps
    this.#slots = new CallSlots({ clock: deps.clock })
    this.#preparations = new Preparations({ clock: deps.clock, onLate: (job) => this.#queue.addBack(job) })
    this.#queue = new BatchQueue({
      clock: deps.clock,
      budget: deps.budget,
      slots: this.#slots,
      expecting: (lane) => deps.expecting(lane) + this.#preparations.late,
      callsLeft: (kind, lane) => this.#callsLeft(kind, lane),
      fullAt: deps.port.idsPerCall,
      choose: (waiting, leading, lane) => this.#choose(waiting, leading, lane),
      send: (unit) => this.#send(unit),
      giveUp: (job, error) => job.fail(error),
    })
  }

  /** See `DiskProvider.applyChanges`. */
  apply(disk: string, changes: TagChanges, options: WriteOptions): Promise<void> {
    const job = new WriteJob({ disk, changes, options, arrivedAtMs: this.#deps.clock.monotonicMs() })
    // Also where a removal names no value: there is no call to make.
    if (job.kind === '') return Promise.resolve()
    if (this.#refusedDisks.has(disk)) job.travelAlone()
    for (const operation of operations) if (job.needs(operation)) this.#admit(job, operation)
    if (!job.ended) this.#queue.add(job)
    return job.done
  }

  /** To be called when `expecting` has fallen. */
  poke(): void {
    this.#queue.poke()
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

  /** Takes away what the account may not do at the moment; the rest of the write is still done. */
  #admit(job: WriteJob, operation: Operation): void {
    const { port, slowLane } = this.#deps
    const name = port.names[operation]
    const admission = slowLane.admit(name)
    if (admission === 'open') return
    if (admission !== 'probe') return job.leaveOut(operation, admission)
    job.travelAlone()
    job.probes.add(operation)
    const ended = () => slowLane.probeEnded(name)
    void job.done.then(ended, ended)
  }

  /** Of the operation with the least left, among those that the kind of job needs. */
  #callsLeft(kind: string, lane: Lane): CallsLeft {
    const { budget, port } = this.#deps
    const each = operations.filter((operation) => kind.includes(operation))
    const left = each.map((operation) => budget.callsLeft(port.names[operation], lane))
    return left.reduce((least, one) => (one.calls < least.calls ? one : least))
  }

  #choose(waiting: WaitingGroups<WriteJob>, leading: string, lane: Lane): WriteUnit {
    const { budget, port } = this.#deps
    const groups: WriteGroup<WriteJob>[] = []
    let lead: WriteGroup<WriteJob> | undefined
    let leadsAlone = false
    for (const [name, members] of waiting) {
      const [job] = members
      if (job === undefined || (job.alone && name !== leading)) continue
      const group = { write: job.write, jobs: members }
      groups.push(group)
      if (name !== leading) continue
      lead = group
      leadsAlone = job.alone
    }
    if (lead === undefined) throw new Error('the leading group is not among those that wait')
    const atOnce = (operation: Operation) => Math.min(callsAtOnceMax, budget.mostAtOnce(port.names[operation], lane))
    const calls = chooseWrites(leadsAlone ? [lead] : groups, lead, {
      idsPerCall: port.idsPerCall,
      callsAtOnce: { set: atOnce('set'), remove: atOnce('remove') },
    })
    return { lane, calls, jobs: [...new Set(calls.flatMap(({ jobs }) => jobs))], needs: this.#needsOf(calls) }
  }

  async #send({ calls, jobs, lane, needs }: WriteUnit): Promise<void> {
    for (const job of jobs) for (const operation of operations) this.#leaveOutIfSlow(job, operation)
    const ready = new Set(await this.#preparations.prepare(jobs.filter(({ ended }) => !ended)))
    const due = calls
      .map((call) => ({ ...call, jobs: call.jobs.filter((job) => ready.has(job) && job.needs(call.operation)) }))
      .filter((call) => call.jobs.length > 0)
    this.#giveBackUnused(needs, due)
    for (const call of due) for (const job of call.jobs) job.callBegins()
    await inParallel(due, this.#slots.limitOf(lane), (call) => sendIsolating(call.jobs, this.#isolationOf(call)))
  }

  /** What became slow while the job waited must not lead to a promise to write. */
  #leaveOutIfSlow(job: WriteJob, operation: Operation): void {
    if (!job.needs(operation) || job.probes.has(operation)) return
    const refusal = this.#deps.slowLane.refusalFor(this.#deps.port.names[operation])
    if (refusal !== undefined) job.leaveOut(operation, refusal)
  }

  #isolationOf({ operation, pairs, jobs }: WriteCall<WriteJob>): IsolationPort<WriteJob> {
    const { port, slowLane } = this.#deps
    return {
      codes: port.codes,
      send: async (members) => {
        const sendable = this.#sendable(operation, members)
        if (sendable.length === 0) return
        await port.send(operation, pairs, [...new Set(sendable.map(({ disk }) => disk))])
        for (const job of sendable) {
          this.#refusedDisks.delete(job.disk)
          this.#callEnded(job, operation)
        }
      },
      fail: (job, error) => this.#callEnded(job, operation, error),
      named: (error, members) => {
        const named = port.namedIn(error)
        return new Set(members.filter(({ disk }) => named.has(disk)))
      },
      refusedSingly: ({ disk }, error) => {
        if (error.kind === 'denied') slowLane.deniedSingly(port.names[operation], disk)
        if (error.kind !== 'not-found') this.#rememberRefused(disk)
      },
      oneMore: () => this.#oneMore(operation, jobs),
    }
  }

  /** Those for which a call may still be sent; the others end here. */
  #sendable(operation: Operation, jobs: readonly WriteJob[]): readonly WriteJob[] {
    const nowMs = this.#deps.clock.monotonicMs()
    const stopping = this.#stopping.signal.aborted ? notSent('the provider is stopping') : undefined
    return jobs.filter((job) => {
      const refusal = stopping ?? job.refusalAt(nowMs)
      if (refusal !== undefined) this.#callEnded(job, operation, refusal)
      return refusal === undefined
    })
  }

  #callEnded(job: WriteJob, operation: Operation, error?: ProviderError): void {
    if (!job.callEnded(operation, error)) return
    if (job.retriesSet()) this.#queue.addBack(job)
    else job.end()
  }

  /** Splitting a batch needs further calls; none is waited for beyond the last of the members' deadlines. */
  async #oneMore(operation: Operation, jobs: readonly WriteJob[]): Promise<ProviderError | undefined> {
    const { budget, port, slowLane } = this.#deps
    const name = port.names[operation]
    const refusal = slowLane.refusalFor(name)
    if (refusal !== undefined) return refusal
    const untilMs = Math.max(...jobs.map(({ deadlineMs }) => deadlineMs ?? Number.POSITIVE_INFINITY))
    const lane = jobs.some((job) => job.lane === 'fresh') ? 'fresh' : 'bulk'
    const mine = await budget.take(name, { lane, signal: this.#stopping.signal, untilMs })
    return mine ? undefined : notSent('the budget left no turn for another call in time')
  }

  #needsOf(calls: readonly WriteCall<WriteJob>[]): CallNeeds {
    const needs = new Map<string, number>()
    for (const { operation } of calls) {
      const name = this.#deps.port.names[operation]
      needs.set(name, (needs.get(name) ?? 0) + 1)
    }
    return needs
  }

  #giveBackUnused(taken: CallNeeds, due: readonly WriteCall<WriteJob>[]): void {
    const used = this.#needsOf(due)
    this.#deps.budget.giveBack(new Map([...taken].map(([name, count]) => [name, count - (used.get(name) ?? 0)])))
  }

  #rememberRefused(disk: string): void {
    this.#refusedDisks.add(disk)
    for (const oldest of this.#refusedDisks) {
      if (this.#refusedDisks.size <= refusedDisksRemembered) break
      this.#refusedDisks.delete(oldest)
    }
  }
}
