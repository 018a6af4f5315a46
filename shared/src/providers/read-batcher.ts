import type { Clock } from '../runtime/clock.ts'
import type { AccountBudget } from './account-budget.ts'
import type { Departure, QueuedJob, WaitingGroups } from './batch-queue.ts'
import { BatchQueue, giveUpAfterMs, noTurn, notSent } from './batch-queue.ts'
import { CallSlots } from './call-slots.ts'
import type { RefusalCodes } from './isolation.ts'
import { sendIsolating } from './isolation.ts'
import type { CallOptions, Lane, ObservedTags } from './provider.ts'
import { ProviderError } from './provider-error.ts'
import type { SlowLane } from './slow-lane.ts'

/** Waits for one more call's worth of budget; throws ProviderError where there will be none. */
export type Pace = () => Promise<void>

/** A cloud where one call reads many disks. */
export interface ReadPort {
  /** The cloud's name of the operation: its bucket in the budget, its permission, its metric. */
  readonly name: string
  readonly idsPerCall: number
  readonly codes: RefusalCodes
  /**
   * Reads these disks, asking `pace` before every call but the first. Disks that are not in the answer are not found.
   * Throws ProviderError.
   */
  read(disks: readonly string[], pace: Pace): Promise<ReadonlyMap<string, ObservedTags>>
}

export interface ReadBatcherDeps {
  readonly clock: Clock
  readonly budget: AccountBudget
  readonly slowLane: SlowLane
  readonly expecting: (lane: Lane) => number
  readonly port: ReadPort
}

interface ReadJob extends QueuedJob {
  readonly disk: string
  readonly end: PromiseWithResolvers<ObservedTags>
  readonly probe: boolean
}

interface ReadUnit extends Departure<ReadJob> {
  readonly lane: Lane
}

/** Turns reads of single disks into few calls, for one account scope, and paces reads of many. */
export class ReadBatcher {
  readonly #deps: ReadBatcherDeps
  readonly #queue: BatchQueue<ReadJob, ReadUnit>
  readonly #stopping = new AbortController()

  constructor(deps: ReadBatcherDeps) {
    this.#deps = deps
    this.#queue = new BatchQueue({
      clock: deps.clock,
      budget: deps.budget,
      slots: new CallSlots({ clock: deps.clock }),
      expecting: deps.expecting,
      callsLeft: (_kind, lane) => deps.budget.callsLeft(deps.port.name, lane),
      fullAt: deps.port.idsPerCall,
      choose: (waiting, leading, lane) => this.#choose(waiting, leading, lane),
      send: (unit) => this.#send(unit),
      giveUp: (job, error) => job.end.reject(error),
    })
  }

  /** See `DiskProvider.getTags`. */
  async read(disk: string, { lane, signal }: CallOptions): Promise<ObservedTags> {
    const { clock, port, slowLane } = this.#deps
    const admission = slowLane.admit(port.name)
    if (admission instanceof ProviderError) throw admission
    const probe = admission === 'probe'
    const nowMs = clock.monotonicMs()
    const end = Promise.withResolvers<ObservedTags>()
    const group = probe ? disk : ''
    this.#queue.add({ disk, lane, signal, kind: '', group, probe, end, arrivedAtMs: nowMs, queuedAtMs: nowMs })
    try {
      return await end.promise
    } finally {
      if (probe) slowLane.probeEnded(port.name)
    }
  }

  /** See `DiskProvider.listTags`. One call at a time: a sweep is in no hurry. */
  async *list(disks: Iterable<string>, options: CallOptions): AsyncGenerator<readonly [string, ObservedTags]> {
    const { port, slowLane } = this.#deps
    const admission = slowLane.admit(port.name)
    if (admission instanceof ProviderError) throw admission
    const signal = AbortSignal.any([options.signal, this.#stopping.signal])
    const pace = () => this.#pace(options.lane, signal)
    try {
      for (const chunk of inChunks(disks, port.idsPerCall)) {
        await pace()
        yield* await port.read(chunk, pace)
      }
    } finally {
      slowLane.probeEnded(port.name)
    }
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
    await this.#queue.stop()
  }

  #choose(waiting: WaitingGroups<ReadJob>, leading: string, lane: Lane): ReadUnit {
    const jobs = [...(waiting.get(leading) ?? [])].slice(0, this.#deps.port.idsPerCall)
    return { jobs, lane, needs: new Map([[this.#deps.port.name, 1]]) }
  }

  async #send({ jobs, lane }: ReadUnit): Promise<void> {
    const { budget, port, slowLane } = this.#deps
    const slow = slowLane.refusalFor(port.name)
    const admitted = slow === undefined ? jobs : jobs.filter(({ probe }) => probe)
    if (slow !== undefined) for (const job of jobs) if (!job.probe) job.end.reject(slow)
    if (admitted.length === 0) return budget.giveBack(new Map([[port.name, 1]]))
    const pace = () => this.#pace(lane, this.#stopping.signal)
    await sendIsolating(admitted, {
      codes: port.codes,
      send: async (members) => {
        const found = await port.read([...new Set(members.map(({ disk }) => disk))], pace)
        for (const { disk, end } of members) {
          const observed = found.get(disk)
          if (observed === undefined) end.reject(new ProviderError('not-found', 'the cloud does not know this disk'))
          else end.resolve(observed)
        }
      },
      fail: (job, error) => job.end.reject(error),
      named: () => new Set(),
      refusedSingly: ({ disk }, error) => {
        if (error.kind === 'denied') slowLane.deniedSingly(port.name, disk)
      },
      oneMore: async () => slowLane.refusalFor(port.name) ?? this.#refusalToPace(lane, this.#stopping.signal),
    })
  }

  async #pace(lane: Lane, signal: AbortSignal): Promise<void> {
    const refusal = await this.#refusalToPace(lane, signal)
    if (refusal !== undefined) throw refusal
  }

  async #refusalToPace(lane: Lane, signal: AbortSignal): Promise<ProviderError | undefined> {
    const { budget, clock, port } = this.#deps
    const untilMs = clock.monotonicMs() + giveUpAfterMs[lane]
    if (await budget.take(port.name, { lane, signal, untilMs })) return undefined
    return signal.aborted ? notSent('the caller gave it up, or the provider is stopping') : noTurn(budget)
  }
}

function* inChunks<Item>(items: Iterable<Item>, size: number): Generator<readonly Item[]> {
  let chunk: Item[] = []
  for (const item of items) {
    chunk.push(item)
    if (chunk.length < size) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}
