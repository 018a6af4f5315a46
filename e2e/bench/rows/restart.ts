import { setTimeout as sleep } from 'node:timers/promises'
import type { Product, ProgramInPlace } from '../../src/product.ts'
import { atMost, sizes, type Measurements, type Row } from '../row.ts'
import type { Stage } from '../stage.ts'
import { untilQuiet } from '../waits.ts'

/** As many as the design says, where one takes two seconds. */
const restartsAt = (claims: number) => (claims > 1000 ? 3 : 20)
const sweepEveryMs = 15_000
/** The product spreads its sweeps by a tenth, and one that is overdue at the start by a tenth more. */
const spread = 0.1

export const restart: Row = {
  name: 'restart',
  title: 'programs restart, nothing has changed',
  budget: 'exclusive',
  clouds: ['aws', 'gcp', 'azure'],
  claims: sizes,
  startsFrom: 'tagged',
  figures: [
    { name: 'calls', title: 'cloud calls after 20 restarts (3 at 10,000 claims)', unit: 'calls', design: atMost(0) },
    {
      name: 'sweeps',
      title: 'sweeps that 20 restarts lost or repeated, one due every 15 s',
      unit: 'sweeps',
      design: atMost(0),
    },
    { name: 'ready', title: 'reconciler, start to ready', unit: 'ms' },
  ],
  run: measure,
}

async function measure(stage: Stage): Promise<Measurements> {
  const restarts = restartsAt(stage.claims)
  const calls = await callsOfRestarts(stage, restarts)
  const due = restarts === 20 ? { sweeps: await sweepsAstray(stage, restarts) } : {}
  return { ...calls, ...due }
}

async function callsOfRestarts(stage: Stage, restarts: number): Promise<Measurements> {
  const { cloud } = stage
  return stage.withProduct({}, async ({ product }) => {
    await untilLed(product)
    await untilQuiet(product, cloud)
    cloud.resetTally()
    const readyMs: number[] = []
    for (let i = 0; i < restarts; i++) {
      for (const program of product.programs) {
        await program.process.stop()
        const startMs = performance.now()
        await program.restart()
        if (program === product.reconciler) readyMs.push(performance.now() - startMs)
      }
      await untilLed(product)
      await untilQuiet(product, cloud)
    }
    stage.log(`  ${restarts} restarts: ${cloud.describeCalls()}`)
    return { calls: cloud.tally().calls, ready: readyMs.toSorted((a, b) => a - b)[readyMs.length >> 1] ?? 0 }
  })
}

/** Restarts faster than sweeps are due, and counts the sweeps over all its lives. */
async function sweepsAstray(stage: Stage, restarts: number): Promise<number> {
  const config = { requeue: { success: `${sweepEveryMs / 1000}s` } }
  return stage.withProduct({ config, webhooks: 0 }, async ({ product }) => {
    const reconciler = product.reconciler as ProgramInPlace
    const lives = [reconciler.process]
    const ended = () => lives.flatMap(({ log }) => log.records()).filter(({ msg }) => msg === sweepMessage).length
    while (ended() === 0) await sleep(50)
    const startMs = performance.now()
    for (let i = 0; i < restarts; i++) {
      await reconciler.process.stop()
      await reconciler.restart()
      lives.push(reconciler.process)
      await untilLed(product)
      await sleep(2500)
    }
    const sweeps = ended() - 1
    const elapsedMs = performance.now() - startMs
    const dueMin = Math.floor(elapsedMs / (sweepEveryMs * (1 + 2 * spread) + 1000))
    const dueMax = Math.ceil(elapsedMs / (sweepEveryMs * (1 - spread)))
    stage.log(
      `  ${sweeps} sweeps in ${(elapsedMs / 1000).toFixed(0)} s and ${restarts} restarts; due ${dueMin}-${dueMax}`,
    )
    return Math.max(0, dueMin - sweeps, sweeps - dueMax)
  })
}

const sweepMessage = 'disks compared with the cloud'

async function untilLed(product: Product): Promise<void> {
  const untilMs = performance.now() + 30_000
  while (product.reconciler !== undefined && (await product.metric(product.reconciler, 'leader')) === 0) {
    if (performance.now() > untilMs) throw new Error('The reconciler did not lead within 30 s')
    await sleep(50)
  }
}
