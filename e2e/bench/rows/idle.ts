import { setTimeout as sleep } from 'node:timers/promises'
import type { Product } from '../../src/product.ts'
import { atMost, sizes, type Measurements, type Row } from '../row.ts'
import type { Stage } from '../stage.ts'

/** Short, so that some sweeps can be waited for; by default one an hour. */
const sweepEverySeconds = 10
const sweepsADay = 24
const sweepsCounted = 3
const limitMs = 150_000

export const idle: Row = {
  name: 'idle',
  title: 'nothing changes, ten times as many foreign disks in the account',
  budget: 'exclusive',
  clouds: ['aws', 'gcp', 'azure'],
  claims: sizes,
  startsFrom: 'tagged',
  figures: [
    { name: 'calls', title: 'cloud calls a day, one sweep an hour', unit: 'calls', design: atMost(600) },
    { name: 'writes', title: 'writes among them', unit: 'calls', design: atMost(0) },
    {
      name: 'repair',
      title: 'a tag changed by hand is back after (one sweep every 10 s)',
      unit: 's',
      design: atMost(60),
    },
  ],
  run: measure,
}

async function measure(stage: Stage): Promise<Measurements> {
  const { cloud } = stage
  const config = { requeue: { success: `${sweepEverySeconds}s` } }
  return stage.withProduct({ config }, async ({ product }) => {
    await sweepsEnd(product, 1)
    cloud.resetTally()
    const sweeps = await sweepsEnd(product, sweepsCounted)
    const { calls, writes } = cloud.tally()
    stage.log(`  ${sweeps} sweeps: ${cloud.describeCalls()}`)
    return {
      calls: (calls / sweeps) * sweepsADay,
      writes: (writes / sweeps) * sweepsADay,
      repair: await secondsToRepair(stage),
    }
  })
}

/** Resolves when so many more sweeps have ended, to how many those were. */
async function sweepsEnd(product: Product, count: number): Promise<number> {
  const ended = () =>
    product.reconciler === undefined
      ? Promise.resolve(0)
      : product.metric(product.reconciler, 'sweeps_total', 'outcome="complete"')
  const before = await ended()
  const untilMs = performance.now() + limitMs
  for (;;) {
    const sweeps = (await ended()) - before
    if (sweeps >= count) return sweeps
    if (performance.now() > untilMs) {
      if (sweeps > 0) return sweeps
      throw new Error(`No sweep ended within ${limitMs / 1000} s`)
    }
    await sleep(50)
  }
}

async function secondsToRepair({ cloud, pairs }: Stage): Promise<number> {
  const [pair] = pairs
  const team = pair?.labels['team']
  if (pair === undefined || team === undefined) throw new Error('There is no claim with a team')
  cloud.setTag(pair.disk, 'team', 'by-hand')
  const startMs = performance.now()
  while (cloud.tagsOf(pair.disk)['team'] !== team) {
    if (performance.now() - startMs > limitMs) throw new Error('The tag that was changed by hand stayed as it was')
    await sleep(20)
  }
  return (performance.now() - startMs) / 1000
}
