import { Ec2Fake, fakeCredentials } from '../../../testing/ec2/ec2-fake.ts'
import { addNumberedVolumes, numberedVolumeId } from '../../../testing/ec2/control.ts'
import { systemClock } from '../../runtime/clock.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { noCloudMetrics } from '../cloud-metrics.ts'
import { createAwsProvider } from './aws-provider.ts'
const [n = '10000', profile = 'exclusive', kind = 'apps', latency = '100'] = process.argv.slice(2)
const fake = await Ec2Fake.start({ latencyMs: Number(latency), buckets: true })
addNumberedVolumes(fake, Number(n))
const provider = await createAwsProvider({ clock: systemClock, random: { next: () => 0.5 }, logger: silentLogger, metrics: noCloudMetrics,
  budget: { profile: profile as 'shared', share: 1 }, expected: { readsToCome: () => 0, writesToCome: () => 0 }, region: 'eu-west-1', endpoint: fake.url, credentials: fakeCredentials })
const deltas: Record<string, (i: number) => Record<string, string>> = {
  apps: (i) => ({ app: `app-${i % 50}`, team: `team-${i % 50 % 10}`, env: ['dev', 'prod'][i % 2]!, cost: `${i % 50 % 7}` }),
  apps3: (i) => ({ app: `app-${i % 50}`, team: `team-${i % 50 % 10}`, env: ['dev', 'stg', 'prod'][i % 3]!, tier: `${i % 7}` }),
  many: (i) => ({ app: `app-${i % 2000}`, team: `team-${i % 2000 % 20}`, env: ['dev', 'stg', 'prod'][Math.floor(i / 2000) % 3]!, tier: 'x' }),
  unique: (i) => ({ app: `app-${i % 50}`, claim: `c-${i}`, env: 'x' }),
}
const set = (i: number) => new Map(Object.entries(deltas[kind]!(i)))
const signal = new AbortController().signal
const t0 = performance.now(); const cpu0 = process.cpuUsage()
let done = 0
const all = Promise.all(Array.from({ length: Number(n) }, (_, i) => provider.applyChanges({ id: numberedVolumeId(i + 1) }, { set: set(i), remove: new Map() }, undefined, { signal, lane: 'bulk', beforeSend: async () => performance.now() + 10000 }).then(() => done++)))
const lat: number[] = []
const probe = (async () => { for (let i = 0; i < 20; i++) { await new Promise((r) => setTimeout(r, 200)); const s = performance.now(); await provider.applyChanges({ id: numberedVolumeId(i + 1) }, { set: new Map([['fresh', `${i}`]]), remove: new Map() }, undefined, { signal, lane: 'fresh' }); lat.push(performance.now() - s) } })()
const limit = new Promise((r) => setTimeout(r, 60000))
await Promise.race([Promise.all([all, probe]), limit])
console.log({ done, ms: performance.now() - t0, cpu: process.cpuUsage(cpu0), counts: fake.counts(), lat: lat.map(Math.round) })
await provider.stop(); await fake.close(); process.exit(0)
