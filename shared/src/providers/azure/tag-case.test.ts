import { expect } from 'chai'
import { AzureFake, fakeCredential } from '../../../testing/azure/azure-fake.ts'
import { numberedDiskId } from '../../../testing/azure/control.ts'
import { ClusterInHand } from '../../../testing/cluster-in-hand.ts'
import { FakeClock } from '../../../testing/fake-clock.ts'
import { TaggerProcess } from '../../../testing/tagger-process.ts'
import type { Claim } from '../../claims/claim.ts'
import { parseRecord } from '../../plan/record-codec.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { noCloudMetrics } from '../cloud-metrics.ts'
import type { RunningProvider } from '../running-provider.ts'
import { createAzureProvider } from './azure-provider.ts'

const disk = numberedDiskId(1)

describe('a label of an Azure disk that changes its case only', () => {
  let fake: AzureFake
  let provider: RunningProvider
  let cluster: ClusterInHand
  let process: TaggerProcess

  beforeEach(async () => {
    fake = await AzureFake.start()
    const clock = new FakeClock()
    provider = await createAzureProvider({
      clock,
      random: { next: () => 0.5 },
      logger: silentLogger,
      metrics: noCloudMetrics,
      budget: { profile: 'exclusive', share: 1 },
      resourceManagerEndpoint: fake.url,
      credential: fakeCredential,
      quietAfterWriteMs: 0,
    })
    cluster = new ClusterInHand()
    cluster.putVolume({ source: { kind: 'csi', driver: 'disk.csi.azure.com', handle: disk } })
    process = new TaggerProcess({ cluster, cloud: provider, clock, tagging: { cloud: 'azure' } })
  })

  afterEach(async () => {
    await provider.stop()
    await fake.close()
  })

  const settled = () => {
    const parsed = parseRecord(cluster.volumes.get('pv-1')?.applied)
    if (parsed.kind !== 'record') throw new Error(`the volume has no record, but ${parsed.kind}`)
    return Object.fromEntries(parsed.record.settled)
  }

  async function tagged(labels: Readonly<Record<string, string>>, before: Readonly<Record<string, string>> = {}) {
    fake.addDisk(disk, { tags: { ...before, foreign: 'x' } })
    const claim = cluster.put({ labels })
    await process.pass(claim.key)
    return claim
  }

  async function relabel(claim: Claim, labels: Readonly<Record<string, string>>) {
    return process.pass(cluster.label(claim, labels).key)
  }

  it('stays our tag, under its new name, and goes with the label', async () => {
    const claim = await tagged({ App: 'shop' })

    await relabel(claim, { app: 'shop' })
    expect(settled()).to.deep.equal({ app: { value: 'shop', before: false } })
    await relabel(claim, { aPP: 'till' })
    expect(fake.tagsOf(disk)).to.deep.equal({ App: 'till', foreign: 'x' })
    await relabel(claim, {})

    expect(fake.tagsOf(disk)).to.deep.equal({ foreign: 'x' })
  })

  it('costs no write where its value is the same', async () => {
    const claim = await tagged({ App: 'shop' })
    const written = fake.count('MergeTags').calls

    const outcome = await relabel(claim, { APP: 'shop' })

    expect(outcome).to.include({ kind: 'in-sync' })
    expect(fake.count('MergeTags').calls).to.equal(written)
  })

  it('that was there before us stays there before us, and is never removed', async () => {
    const claim = await tagged({ App: 'shop' }, { app: 'theirs' })

    await relabel(claim, { APP: 'shop' })
    expect(settled()).to.deep.equal({ APP: { value: 'shop', before: true } })
    await relabel(claim, {})

    expect(fake.tagsOf(disk)).to.deep.equal({ app: 'shop', foreign: 'x' })
  })

  it('is still ours where its write was cut off and another process goes on', async () => {
    const claim = await tagged({ App: 'shop' })
    const clock = new FakeClock()
    const shared = { cluster, cloud: provider, tagging: { cloud: 'azure' as const } }
    const dying = new TaggerProcess({ ...shared, clock, identity: 'pod-b', killedAt: 'after open record' })
    expect(await dying.pass(cluster.label(claim, { app: 'till' }).key)).to.equal('killed')
    await clock.step(10 * 60_000)
    const next = new TaggerProcess({ ...shared, clock, identity: 'pod-c' })

    await next.pass(cluster.label(claim, {}).key)

    expect(fake.tagsOf(disk)).to.deep.equal({ foreign: 'x' })
  })
})
