import { setTimeout as sleep } from 'node:timers/promises'
import { describeMs, distribution } from '../../src/percentiles.ts'
import { atMost, type Measurements, type Row } from '../row.ts'
import type { Stage } from '../stage.ts'
import { taggedAt } from '../waits.ts'

const changesMax = 30
const distanceMs = 400

/** A new rule wants one more tag on every disk; the reconciler alone has to do that and the changes. */
export const freshUnderLoad: Row = {
  name: 'fresh-under-load',
  title: 'one label change while all other disks are being tagged by the same process',
  budget: 'exclusive',
  clouds: ['aws', 'gcp', 'azure'],
  claims: [10_000],
  startsFrom: 'tagged',
  figures: [{ name: 'p99', title: 'label value changed → tagged, p99', unit: 'ms', design: atMost(3000) }],
  run: measure,
}

async function measure(stage: Stage): Promise<Measurements> {
  const { cloud, pairs } = stage
  stage.pairsWereWritten()
  // Of its own value on every disk: no two share a call, and the load lasts.
  const config = { tags: { enforced: { claim: '{{ .Name }}' } } }
  return stage.withProduct({ config, webhooks: 0 }, async () => {
    const isTagged = (disk: string) => cloud.tagsOf(disk)['claim'] !== undefined
    while (!pairs.some(({ disk }) => isTagged(disk))) await sleep(50)
    const times: number[] = []
    for (const pair of pairs.slice(-changesMax)) {
      await stage.kube.claims.label(pair.claim, { team: 'another' })
      const answeredAtMs = Date.now()
      times.push((await taggedAt(cloud, pair.disk, { team: 'another' }, { withinMs: 60_000 })) - answeredAtMs)
      await sleep(distanceMs)
    }
    const waiting = pairs.filter(({ disk }) => !isTagged(disk)).length
    stage.log(`  ${describeMs(times)}; ${waiting} disks still wait; ${cloud.describeCalls()}`)
    if (waiting === 0) throw new Error('The load was over before the changes were')
    const note = `${times.length} changes one after another; at the end ${waiting} of ${pairs.length} disks still waited`
    return { p99: { value: distribution(times).p99, note } }
  })
}
