import { inParallel } from '../../src/bulk.ts'
import type { Figure, Measured, Measurements, Row } from '../row.ts'
import { atMost } from '../row.ts'
import type { Stage } from '../stage.ts'
import { allTagged, untilQuiet } from '../waits.ts'

const burstOf = 1000
const limitMs = 120_000
const bindsAtOnce = 64

const oneDiskACall: Figure['reason'] = {
  gcp: 'Google takes the labels of one disk a call, and 1,500 calls a minute: 40 s at best',
  azure: 'Azure takes the tags of one disk a call: 200 at once, then 10 a second, so 80 s at best',
}

/** Claims of fresh disks are bound, as fast as the API server takes it. */
export const burst: Row = {
  name: 'burst',
  title: 'new claims at once (1,000; 100 where there are 100)',
  budget: 'exclusive',
  clouds: ['aws', 'gcp', 'azure'],
  claims: [100, 1000],
  startsFrom: 'tagged',
  figures: [
    { name: 'seconds', title: 'first bind → all tagged', unit: 's', design: atMost(6), reason: oneDiskACall },
    { name: 'calls', title: 'cloud calls', unit: 'calls' },
    {
      name: 'kubernetes',
      title: "webhook's Kubernetes calls for each tagged claim, Event included",
      unit: 'calls',
      design: atMost(6),
    },
  ],
  run: (stage) => measure(stage),
}

export const quotaBurst: Row = {
  name: 'burst-quota',
  title: "new claims at once, within the cloud's published quota (1,000; 100 where there are 100)",
  budget: 'exclusive',
  clouds: ['aws', 'gcp', 'azure'],
  claims: [100, 1000],
  startsFrom: 'tagged',
  figures: [
    { name: 'seconds', title: 'first bind → all tagged', unit: 's', design: atMost(15), reason: oneDiskACall },
    { name: 'throttled', title: 'throttle answers', unit: 'answers', design: atMost(0) },
  ],
  async run(stage) {
    stage.cloud.enforceQuota(true)
    try {
      return await measure(stage)
    } finally {
      stage.cloud.enforceQuota(false)
    }
  },
}

const everyFifth = 5

export const throttled: Row = {
  name: 'throttled',
  title: 'new claims at once, every fifth write refused as too many (1,000; 100 where there are 100)',
  budget: 'exclusive',
  clouds: ['aws', 'gcp', 'azure'],
  claims: [100, 1000],
  startsFrom: 'tagged',
  figures: [
    {
      name: 'tagged',
      title: `tagged within ${limitMs / 1000} s`,
      unit: '%',
      design: () => ({ atLeast: 100 }),
      reason: {
        ...oneDiskACall,
        gcp: 'a refusal by Google means that the minute is used up, so each one is waited out to the next minute',
      },
    },
    { name: 'seconds', title: 'first bind → all tagged', unit: 's' },
    { name: 'calls', title: 'cloud calls, refused ones included', unit: 'calls' },
  ],
  async run(stage) {
    stage.cloud.throttleEvery(everyFifth)
    try {
      return await measure(stage)
    } finally {
      stage.cloud.throttleEvery(undefined)
    }
  },
}

async function measure(stage: Stage): Promise<Measurements> {
  const { cloud, plane, setup } = stage
  const pairs = await stage.newPairs(Math.min(stage.claims, burstOf))
  return stage.withProduct({}, async ({ product }) => {
    await untilQuiet(product, cloud)
    cloud.resetTally()
    const since = await plane.audit?.mark()
    const startedAtMs = Date.now()
    const binding = inParallel(pairs.length, async (i) => pairs[i] && stage.bind(pairs[i]), {
      concurrency: bindsAtOnce,
    })
    const { tagged, lastAtMs, lateRate } = await allTagged(cloud, pairs, { withinMs: limitMs, log: stage.log })
    await binding
    const all = tagged === pairs.length
    if (all) await untilQuiet(product, cloud)
    const handedOver = await Promise.all(product.webhooks.map((one) => product.metric(one, 'handed_over_total')))
    const { calls, throttled } = cloud.tally()
    const audited = await plane.audit?.counts({ user: setup.webhook.user, ...(since !== undefined && { since }) })
    const kubernetes = [...(audited?.byCall ?? [])].reduce((sum, [call, n]) => sum + (/leases/.test(call) ? 0 : n), 0)
    const seconds: Measured = all
      ? { value: (lastAtMs - startedAtMs) / 1000 }
      : {
          value: (lastAtMs - startedAtMs) / 1000 + (pairs.length - tagged) / lateRate,
          note: `${tagged} were tagged in ${limitMs / 1000} s, ${lateRate.toFixed(1)} a second; the rest is reckoned`,
        }
    const left = handedOver.reduce((sum, n) => sum + n, 0)
    stage.log(`  ${tagged} of ${pairs.length}, ${seconds.value.toFixed(1)} s; left to the reconciler ${left}`)
    stage.log(`  ${cloud.describeCalls()}; refused by fairness ${audited?.throttled}`)
    return {
      seconds,
      ...(all && { calls }),
      throttled,
      tagged: (tagged / pairs.length) * 100,
      ...(all && left === 0 && { kubernetes: kubernetes / pairs.length }),
    }
  })
}
