import { atMost, sizes, type Measurements, type Row } from '../row.ts'
import type { Stage } from '../stage.ts'
import { allTagged, untilQuiet } from '../waits.ts'

const limitMs = 120_000
/** What the reconciler asks the API server for whether there is anything to tag or not. */
const atRest = /^(?:list|watch) |leases/

export const coldStart: Row = {
  name: 'cold-start',
  title: 'installed where all claims exist already',
  budget: 'exclusive',
  clouds: ['aws', 'gcp', 'azure'],
  claims: sizes,
  startsFrom: 'untagged',
  figures: [
    {
      name: 'calls',
      title: 'cloud calls until all disks are tagged',
      unit: 'calls',
      // 50 apps with 4 labels each; the other two clouds take one disk a call.
      design: ({ cloud, claims }) => (cloud === 'aws' && claims === 10_000 ? { atMost: 250 } : undefined),
    },
    { name: 'seconds', title: 'until all disks are tagged', unit: 's' },
    {
      name: 'memory',
      title: 'anonymous memory of the reconciler, peak',
      unit: 'MiB',
      design: ({ claims }) => (claims === 10_000 ? { atMost: 130 } : undefined),
    },
    {
      name: 'kubernetes',
      title: "reconciler's Kubernetes calls for each tagged claim, Event included",
      unit: 'calls',
      design: atMost(3.05),
    },
  ],
  run: measure,
}

async function measure(stage: Stage): Promise<Measurements> {
  const { cloud, pairs, plane, setup } = stage
  stage.pairsWereWritten()
  const since = await plane.audit?.mark()
  return stage.withProduct({}, async ({ product, memory }) => {
    const startedAtMs = Date.now() - (performance.now() - memory.startedAtMs('reconciler-0'))
    const { tagged, lastAtMs, lateRate } = await allTagged(cloud, pairs, { withinMs: limitMs, log: stage.log })
    const { calls } = cloud.tally()
    const all = tagged === pairs.length
    // Settles and Events follow the tags.
    if (all) await untilQuiet(product, cloud)
    const audited = await plane.audit?.counts({ user: setup.reconciler.user, ...(since !== undefined && { since }) })
    const kubernetes = [...(audited?.byCall ?? [])].reduce((sum, [call, n]) => sum + (atRest.test(call) ? 0 : n), 0)
    const reached = (lastAtMs - startedAtMs) / 1000
    stage.log(`  ${tagged} of ${pairs.length} in ${reached.toFixed(1)} s; ${cloud.describeCalls()}`)
    const note = `${tagged} were tagged in ${limitMs / 1000} s, ${lateRate.toFixed(1)} a second; the rest is reckoned`
    const reckoned = all ? {} : { note }
    const left = pairs.length - tagged
    return {
      calls: { value: Math.round(all ? calls : (calls / tagged) * pairs.length), ...reckoned },
      seconds: { value: reached + (all ? 0 : left / lateRate), ...reckoned },
      memory: memory.peakOf('reconciler-0'),
      ...(all && { kubernetes: kubernetes / pairs.length }),
    }
  })
}
