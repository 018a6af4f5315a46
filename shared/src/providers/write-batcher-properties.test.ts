import { expect } from 'chai'
import * as fc from 'fast-check'
import { FakeClock } from '../../testing/fake-clock.ts'
import { silentLogger } from '../runtime/logger.ts'
import { AccountBudget } from './account-budget.ts'
import { noCloudMetrics } from './cloud-metrics.ts'
import { MeteredCalls } from './metered.ts'
import type { Lane } from './provider.ts'
import { ProviderError } from './provider-error.ts'
import { SlowLane } from './slow-lane.ts'
import { WriteBatcher } from './write-batcher.ts'

type Trouble = 'gone' | 'denied' | 'full'
type Weather = 'fine' | 'silent' | 'lost-answer' | 'throttled' | 'broken'

interface JobScript {
  readonly atMs: number
  readonly lane: Lane
  readonly set: Readonly<Record<string, string>>
  readonly removes: boolean
  readonly trouble: Trouble | undefined
  /** How long `beforeSend` takes; undefined where there is none, negative where it refuses. */
  readonly beforeSendMs: number | undefined
  readonly abortsAfterMs: number | undefined
}

interface Script {
  readonly jobs: readonly JobScript[]
  /** What becomes of the calls, in turn and over again. */
  readonly weather: readonly Weather[]
  readonly burst: number
  readonly stopsAtMs: number | undefined
}

const sendWindowMs = 10_000
const perSecond = 2

/** One disk for each job, so that what is on it tells what became of that job alone. */
interface Disk {
  readonly tags: Map<string, string>
  readonly trouble: Trouble | undefined
}

class ScriptedCloud {
  readonly disks: ReadonlyMap<string, Disk>
  readonly sentAtMs: number[] = []
  readonly lastSentAtMs = new Map<string, number>()
  readonly #clock: FakeClock
  readonly #weather: readonly Weather[]

  constructor(clock: FakeClock, { jobs, weather }: Script) {
    this.#clock = clock
    this.#weather = weather
    this.disks = new Map(
      jobs.map(({ trouble }, i) => [`disk-${i}`, { tags: new Map([['old', 'x']]), trouble }] as const),
    )
  }

  async call(
    operation: 'set' | 'remove',
    pairs: readonly (readonly [string, string])[],
    ids: readonly string[],
  ): Promise<void> {
    const weather = this.#weather[this.sentAtMs.length % this.#weather.length]
    this.sentAtMs.push(this.#clock.monotonicMs())
    for (const id of ids) this.lastSentAtMs.set(id, this.#clock.monotonicMs())
    await new Promise<void>((resolve) => this.#clock.setTimer(100, resolve))
    if (weather === 'throttled') throw new ProviderError('throttled', 'slow down')
    if (weather === 'broken') throw new ProviderError('unavailable', 'refused', { code: 'ECONNREFUSED' })
    const disks = ids.flatMap((id) => this.disks.get(id) ?? [])
    const kind = { gone: 'not-found', denied: 'denied', full: 'invalid' } as const
    const trouble = disks.find(
      (disk) => disk.trouble !== undefined && (disk.trouble !== 'full' || operation === 'set'),
    )?.trouble
    if (trouble !== undefined) throw new ProviderError(kind[trouble], trouble, { code: trouble })
    if (weather === 'silent') await new Promise(() => {})
    for (const { tags } of disks) {
      for (const [key, value] of pairs) {
        if (operation === 'set') tags.set(key, value)
        else if (tags.get(key) === value) tags.delete(key)
      }
    }
    if (weather === 'lost-answer') throw new ProviderError('unavailable', 'lost', { outcomeUnknown: true })
  }
}

function startWith(script: Script) {
  const clock = new FakeClock()
  const cloud = new ScriptedCloud(clock, script)
  const rate = { burst: script.burst, perSecond }
  const budget = new AccountBudget({ clock, rates: { set: rate, remove: rate }, share: 1 })
  const slowLane = new SlowLane({ clock, random: { next: () => 0.5 } })
  const metered = new MeteredCalls({
    provider: 'aws',
    scope: 'test',
    clock,
    logger: silentLogger,
    metrics: noCloudMetrics,
    budget,
    slowLane,
    timeoutMs: 10_000,
    isKnownCode: () => true,
  })
  let unstarted = script.jobs.length
  const batcher = new WriteBatcher({
    clock,
    budget,
    slowLane,
    expecting: () => unstarted,
    port: {
      names: { set: 'set', remove: 'remove' },
      idsPerCall: 5,
      codes: { isAboutTags: () => false, isUnexplained: () => false },
      namedIn: () => new Set(),
      send: (operation, pairs, ids) => metered.run(operation, 'write', () => cloud.call(operation, pairs, ids)),
    },
  })
  return { batcher, clock, cloud, started: () => void (unstarted -= 1) }
}

interface Result {
  error: unknown
  settled: number
  asked: number
  deadlineMs: number
}

async function play(script: Script) {
  const { batcher, clock, cloud, started } = startWith(script)
  const results = script.jobs.map((): Result => ({ error: undefined, settled: 0, asked: 0, deadlineMs: Infinity }))
  script.jobs.forEach((job, i) => {
    const result = results[i]
    if (result === undefined) return
    clock.setTimer(job.atMs, () => {
      started()
      const abort = new AbortController()
      if (job.abortsAfterMs !== undefined) clock.setTimer(job.abortsAfterMs, () => abort.abort())
      const beforeSend = async () => {
        result.asked += 1
        const delayMs = Math.abs(job.beforeSendMs ?? 0)
        await new Promise<void>((resolve) => clock.setTimer(delayMs, resolve))
        if ((job.beforeSendMs ?? 0) < 0) throw new Error('refused')
        result.deadlineMs = clock.monotonicMs() + sendWindowMs
        return result.deadlineMs
      }
      const changes = { set: new Map(Object.entries(job.set)), remove: new Map(job.removes ? [['old', ['x']]] : []) }
      batcher
        .apply(`disk-${i}`, changes, {
          lane: job.lane,
          signal: abort.signal,
          ...(job.beforeSendMs !== undefined && { beforeSend }),
        })
        .catch((error: unknown) => (result.error = error))
        .finally(() => (result.settled += 1))
    })
  })
  if (script.stopsAtMs !== undefined) clock.setTimer(script.stopsAtMs, () => void batcher.stop())
  // Beyond the longest wait that anybody may have: a bulk write's ten minutes in the queue and a slow call.
  await clock.step(700_000)
  const timersLeft = clock.pendingTimers
  await batcher.stop()
  return { cloud, results, timersLeft }
}

const scripts: fc.Arbitrary<Script> = fc.record({
  jobs: fc.array(
    fc.record({
      atMs: fc.nat(4000),
      lane: fc.constantFrom<Lane>('fresh', 'bulk'),
      set: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'), { noNullPrototype: true }),
      removes: fc.boolean(),
      trouble: fc.oneof(
        { weight: 8, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.constantFrom<Trouble>('gone', 'denied', 'full') },
      ),
      beforeSendMs: fc.constantFrom(undefined, 0, 5, 500, 3000, 45_000, -5),
      abortsAfterMs: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(3000) }),
    }),
    { minLength: 1, maxLength: 30 },
  ),
  weather: fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constant<Weather>('fine') },
      { weight: 2, arbitrary: fc.constantFrom<Weather>('silent', 'lost-answer', 'throttled', 'broken') },
    ),
    { minLength: 1, maxLength: 6 },
  ),
  burst: fc.constantFrom(1, 4, 20),
  stopsAtMs: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(6000) }),
})

describe('WriteBatcher, whatever happens', () => {
  it('ends every write once and truly, in time, within the budget, and leaves nothing running', async function () {
    this.timeout(60_000)

    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const { cloud, results, timersLeft } = await play(script)

        expect(timersLeft).to.equal(0)
        results.forEach((result, i) => {
          const job = script.jobs[i]
          if (job !== undefined) expectTrue(result, job, cloud, `disk-${i}`)
        })
        expectWithinBudget(cloud.sentAtMs, 2 * script.burst, 2 * perSecond)
      }),
      { numRuns: 60 },
    )
  })
})

function expectTrue({ asked, deadlineMs, error, settled }: Result, job: JobScript, cloud: ScriptedCloud, disk: string) {
  const tags = Object.fromEntries(cloud.disks.get(disk)?.tags ?? [])
  expect(settled).to.equal(1)
  expect(asked).to.be.at.most(1)
  expect(cloud.lastSentAtMs.get(disk) ?? 0).to.be.at.most(deadlineMs)
  if (error === undefined) {
    expect(tags).to.deep.equal({ ...(job.removes ? {} : { old: 'x' }), ...job.set })
    return
  }
  const { code, kind, outcomeUnknown } =
    error instanceof ProviderError ? error : new ProviderError('conflict', 'refused')
  if (!outcomeUnknown) expect(tags).to.deep.equal({ old: 'x' })
  // What is wrong with one disk is never said of another.
  if (kind === 'denied' || kind === 'not-found' || kind === 'invalid') {
    expect(job.trouble !== undefined || code === 'SlowLane').to.equal(true)
  }
}

/** For two operations, each with a bucket of its own. A token may be used up to four seconds after it was taken. */
function expectWithinBudget(sentAtMs: readonly number[], burst: number, perSecond: number): void {
  sentAtMs.forEach((fromMs, first) => {
    sentAtMs.slice(first).forEach((toMs, further) => {
      expect(further + 1).to.be.at.most(burst + ((toMs - fromMs) / 1000 + 4) * perSecond)
    })
  })
}
