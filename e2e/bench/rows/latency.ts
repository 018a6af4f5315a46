import { setTimeout as sleep } from 'node:timers/promises'
import { describeMs, distribution } from '../../src/percentiles.ts'
import { atMost, type Design, type Measurements, type Place, type Row } from '../row.ts'
import type { Stage, TaggedPair } from '../stage.ts'
import { taggedAt, untilQuiet } from '../waits.ts'

const samples = 100
/** So that each change meets an idle product that has the calls for it. */
const distanceMs = 250

/** Google replaces the whole set of labels, so that each write needs a read. */
const oneCallWhereItDoes = ({ cloud }: Place): Design => ({ atMost: cloud === 'gcp' ? 250 : 140 })

export const latency: Row = {
  name: 'latency',
  title: 'one change at a time, the cloud answering in 100 ms',
  budget: 'exclusive',
  clouds: ['aws', 'gcp', 'azure'],
  claims: [1000, 10_000],
  startsFrom: 'tagged',
  figures: [
    { name: 'bind-p50', title: 'fresh disk bound → tagged, p50', unit: 'ms', design: oneCallWhereItDoes },
    { name: 'bind-p99', title: 'fresh disk bound → tagged, p99', unit: 'ms', design: atMost(300) },
    { name: 'label-p50', title: 'label value changed → tagged, p50', unit: 'ms', design: oneCallWhereItDoes },
    { name: 'label-p99', title: 'label value changed → tagged, p99', unit: 'ms', design: atMost(300) },
    { name: 'new-key-p50', title: 'label added → tagged (a read is due), p50', unit: 'ms', design: atMost(250) },
  ],
  run: measure,
}

async function measure(stage: Stage): Promise<Measurements> {
  const pairs = await stage.newPairs(samples)
  return stage.withProduct({}, async ({ product }) => {
    await untilQuiet(product, stage.cloud)
    const bind = await oneByOne(stage, pairs, (pair) => ({ change: () => stage.bind(pair), wish: pair.labels }))
    const label = await oneByOne(stage, pairs, (pair) => labelled(stage, pair, { team: 'another' }))
    const newKey = await oneByOne(stage, pairs.slice(0, 50), (pair) => labelled(stage, pair, { extra: 'yes' }))
    stage.log(`  bind ${describeMs(bind)}; label ${describeMs(label)}; new key ${describeMs(newKey)}`)
    return {
      'bind-p50': distribution(bind).p50,
      'bind-p99': distribution(bind).p99,
      'label-p50': distribution(label).p50,
      'label-p99': distribution(label).p99,
      'new-key-p50': distribution(newKey).p50,
    }
  })
}

interface Change {
  /** Resolves to the wall time of the API server's answer. */
  readonly change: () => Promise<number>
  readonly wish: Readonly<Record<string, string>>
}

async function oneByOne(
  { cloud }: Stage,
  pairs: readonly TaggedPair[],
  changeOf: (pair: TaggedPair) => Change,
): Promise<readonly number[]> {
  const times: number[] = []
  for (const pair of pairs) {
    const { change, wish } = changeOf(pair)
    const answeredAtMs = await change()
    times.push((await taggedAt(cloud, pair.disk, wish)) - answeredAtMs)
    await sleep(distanceMs)
  }
  return times
}

function labelled(stage: Stage, { claim }: TaggedPair, labels: Readonly<Record<string, string>>): Change {
  const change = async () => {
    await stage.kube.claims.label(claim, labels)
    return Date.now()
  }
  return { change, wish: labels }
}
