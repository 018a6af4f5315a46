import { setTimeout as sleep } from 'node:timers/promises'
import { describeMs, distribution } from '../../src/percentiles.ts'
import { atMost, type Measurements, type Row } from '../row.ts'
import type { Stage } from '../stage.ts'
import { taggedAt, untilQuiet } from '../waits.ts'

const others = 20
const distanceMs = 250

export const hang: Row = {
  name: 'hang',
  title: 'a cloud call that hangs (given up after 10 s)',
  budget: 'exclusive',
  clouds: ['aws', 'gcp', 'azure'],
  claims: [1000],
  startsFrom: 'tagged',
  figures: [
    { name: 'others', title: 'others meanwhile, bound → tagged, p99', unit: 'ms', design: atMost(300) },
    { name: 'own', title: 'that claim, bound → tagged', unit: 's', design: atMost(30) },
  ],
  run: measure,
}

async function measure(stage: Stage): Promise<Measurements> {
  const { cloud } = stage
  const [hanging, ...rest] = await stage.newPairs(others + 1)
  if (hanging === undefined) throw new Error('There is no claim')
  return stage.withProduct({}, async ({ product }) => {
    await untilQuiet(product, cloud)
    const fault = cloud.hangNextWrite(hanging.disk)
    try {
      const boundAtMs = await stage.bind(hanging)
      while (fault.hits === 0) await sleep(5)
      const times: number[] = []
      for (const pair of rest) {
        const answeredAtMs = await stage.bind(pair)
        times.push((await taggedAt(cloud, pair.disk, pair.labels)) - answeredAtMs)
        await sleep(distanceMs)
      }
      const own = (await taggedAt(cloud, hanging.disk, hanging.labels, { withinMs: 60_000 })) - boundAtMs
      stage.log(`  others ${describeMs(times)}; that one after ${(own / 1000).toFixed(1)} s`)
      return { others: distribution(times).p99, own: own / 1000 }
    } finally {
      fault.clear()
    }
  })
}
