import { expect } from 'chai'
import { claim as aClaim } from '../../testing/builders.ts'
import { taggingRules } from '../../testing/tagging-rules.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { mergeHints } from '../queue/hints.ts'
import { WorkQueue } from '../queue/work-queue.ts'
import { Workers } from '../queue/workers.ts'
import { MemoryProvider } from '../providers/memory/memory-provider.ts'
import { ProviderError } from '../providers/provider-error.ts'
import { createMetrics } from '../runtime/metrics.ts'
import { showLine, workersCheck } from './line-health.ts'
import type { TaggingLine } from './tagging-line.ts'

const minuteMs = 60_000

function start(work: (clock: FakeClock) => Promise<void>) {
  const clock = new FakeClock()
  const queue: TaggingLine['queue'] = new WorkQueue({ clock, merge: mergeHints })
  const workers: TaggingLine['workers'] = new Workers({ queue, clock, concurrency: 2, work: () => work(clock) })
  const cloud = new MemoryProvider({ clock })
  const provider = Object.assign(cloud, {
    poke() {},
    isSlow: () => false,
    status: () => [
      {
        scope: 'aws/eu-west-1',
        slow: true,
        pausedForMs: 0,
        budgets: [{ operation: 'CreateTags', burst: 20, ratePerSecond: 2, tokens: 20 }],
        waiting: { fresh: 0, bulk: 0 },
        underWay: 0,
      },
    ],
    stop: () => Promise.resolve(),
  })
  const tagging = taggingRules({ provider, clock })
  const line: Pick<TaggingLine, 'queue' | 'workers' | 'provider' | 'tagging'> = { queue, workers, provider, tagging }
  workers.start()
  const add = (count: number) => {
    for (let i = 0; i < count; i++) queue.add(aClaim({ name: `data-${i}` }).key, { lane: 'fresh' })
  }
  return { clock, line: line as TaggingLine, add }
}

describe('workersCheck', () => {
  it('is content where there is no line, and where it has nothing to do', async () => {
    const { clock, line } = start(() => Promise.resolve())
    await clock.step(60 * minuteMs)

    expect(workersCheck(() => undefined)()).to.equal(undefined)
    expect(workersCheck(() => line)()).to.equal(undefined)
  })

  it('fails when no job of several has ended for 20 minutes', async () => {
    const { clock, line, add } = start(() => new Promise(() => {}))
    const check = workersCheck(() => line)
    add(3)

    await clock.step(20 * minuteMs)
    expect(check()).to.equal(undefined)
    await clock.step(1000)
    expect(check()).to.equal('workers: no job has ended for 1201 s')
  })

  it('is content while one job hangs and others end', async () => {
    let jobs = 0
    const { clock, line, add } = start(async (clock) => {
      if (jobs++ === 0) return new Promise(() => {})
      await new Promise<void>((resolve) => clock.setTimer(15 * minuteMs, resolve))
    })
    add(5)

    await clock.step(50 * minuteMs)

    expect(workersCheck(() => line)()).to.equal(undefined)
  })

  it('is content while the cloud fails for hours: each failure is an end', async () => {
    const { clock, line, add } = start(async (clock) => {
      await new Promise<void>((resolve) => clock.setTimer(10_000, resolve))
      // The worker turns it into an outcome; here only its time matters.
      void new ProviderError('unavailable', 'no answer within 10000 ms')
    })
    for (let hour = 0; hour < 3; hour++) {
      add(1000)
      await clock.step(60 * minuteMs)
      expect(workersCheck(() => line)()).to.equal(undefined)
    }
  })
})

describe('showLine', () => {
  it('shows what waits, what is under way, and what the cloud allows', async () => {
    const metrics = createMetrics({ version: '1.2.3', program: 'webhook' })
    const { clock, line, add } = start(() => new Promise(() => {}))
    add(5)
    line.queue.addAfter(aClaim({ name: 'later' }).key, { lane: 'bulk' }, 60_000)
    await clock.step(7000)
    line.tagging.brake.foresee(
      'team',
      Array.from({ length: 21 }, (_, i) => `vol-${i}`),
    )

    showLine(metrics, line)

    const text = await metrics.registry.metrics()
    for (const sample of [
      'queue_depth{state="ready"} 3',
      'queue_depth{state="waiting"} 1',
      'queue_depth{state="processing"} 2',
      'queue_oldest_seconds 7',
      'removal_brake 1',
      'removals_held{key="team"} 21',
      'reconcile_active{resource="persistentvolumeclaim"} 2',
      'cloud_scope_slow{scope="aws/eu-west-1"} 1',
      'cloud_rate_per_second{scope="aws/eu-west-1",operation="CreateTags"} 2',
    ]) {
      expect(text).to.include(`k8s_cloud_tagger_${sample}\n`)
    }
  })

  it('shows zeros where there is no line', async () => {
    const metrics = createMetrics({ version: '1.2.3', program: 'reconciler' })

    showLine(metrics, undefined)

    expect(await metrics.registry.metrics()).to.include('k8s_cloud_tagger_queue_depth{state="ready"} 0\n')
  })
})
