import { setTimeout as sleep } from 'node:timers/promises'
import { memoryOf } from '../../src/processes.ts'
import { atMost, sizes, type Measurements, type Row } from '../row.ts'
import type { Stage } from '../stage.ts'
import { untilQuiet } from '../waits.ts'

/** Beyond the start's own garbage. */
const settleMs = 5000

export const atRest: Row = {
  name: 'at-rest',
  title: 'the programs, started and with nothing to do',
  budget: 'none',
  clouds: ['aws', 'gcp', 'azure'],
  claims: sizes,
  startsFrom: 'tagged',
  figures: [
    { name: 'webhook', title: 'anonymous memory of a webhook', unit: 'MiB', design: atMost(65) },
    { name: 'reconciler', title: 'anonymous memory of the reconciler', unit: 'MiB' },
    { name: 'webhook-ready', title: 'webhook, start to ready', unit: 'ms' },
  ],
  run: measure,
}

async function measure(stage: Stage): Promise<Measurements> {
  return stage.withProduct({}, async ({ product }) => {
    await untilQuiet(product, stage.cloud)
    await sleep(settleMs)
    const [webhook] = product.webhooks
    if (webhook === undefined || product.reconciler === undefined) throw new Error('A program is missing')
    const measured = {
      webhook: memoryOf(webhook.process).anonymousMiB,
      reconciler: memoryOf(product.reconciler.process).anonymousMiB,
    }
    await webhook.process.stop()
    const startMs = performance.now()
    await webhook.restart()
    return { ...measured, 'webhook-ready': performance.now() - startMs }
  })
}
