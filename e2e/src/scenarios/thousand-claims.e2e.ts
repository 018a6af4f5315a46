import { expect } from 'chai'
import { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { bindClaim, claimWithVolume, inParallel, type ClaimAndVolume } from '../bulk.ts'
import type { Cluster } from '../cluster.ts'
import { setUpCluster, type ClusterSetup } from '../cluster-setup.ts'
import { taggedAt } from '../latency.ts'
import { Product, type ProgramInPlace } from '../product.ts'
import { scenarioFolder } from '../scenario-folder.ts'
import { startCluster } from '../start-cluster.ts'
import { ebsVolumeId, gp3 } from '../volumes.ts'

const count = 1000
const apps = 50
const namespace = 'e2e-thousand'

let cluster: Cluster
let setup: ClusterSetup
let ec2: Ec2Fake
let product: Product
let dir: string

describe(`${count} claims at once, of ${apps} apps with 4 labels each`, () => {
  before('starts', async () => {
    dir = scenarioFolder('thousand')
    // The controller binds some fifty claims a second, which would be the figure; `bindClaim` does the same write.
    cluster = await startCluster({ dir, volumeController: false })
    setup = await setUpCluster(cluster, { dir })
    ec2 = await Ec2Fake.start({ latencyMs: 100, requireSignature: true })
    await cluster.kube.apply(gp3)
    await cluster.kube.createNamespace(namespace)
    product = await Product.start({ cluster, setup, dir, ec2Url: ec2.url })
  })

  after('stops', async () => {
    await product?.stop()
    await ec2?.close()
    await cluster?.stop()
  })

  it('are all tagged', () => tagThousand('first'))

  it("are all tagged within EC2's own buckets, without a throttle answer", async () => {
    // As after a quiet minute: our own buckets and EC2's are full.
    await sleep(30_000)
    ec2.enforceBuckets(true)
    await tagThousand('buckets')

    expect(Object.values(ec2.counts()).filter(({ throttled }) => throttled > 0)).to.deep.equal([])
    ec2.enforceBuckets(false)
  })

  it('are not held up by a call that hangs', async () => {
    await sleep(10_000)
    const hanging = await claimWithVolume(cluster.kube, 'hanging', { namespace, labels: { team: 'slow' } })
    const disk = diskOf(hanging)
    ec2.addVolume(disk)
    const hang = ec2.inject({ kind: 'hang' }, { ids: [disk] })
    await bindClaim(cluster.kube, hanging)
    const others = await Promise.all([0, 1, 2, 3, 4].map((i) => taggedOnce(`beside-${i}`)))

    expect(Math.max(...others)).to.be.lessThan(5_000)
    expect(hang.hits).to.equal(1)
    expect(ec2.tagsOf(disk)).to.deep.equal({})
    hang.clear()
    await taggedAt(ec2, disk, { team: 'slow' }, 30_000)
  })

  it('cost no cloud call after a restart of everything', async () => {
    await restartAll()
    await untilIdle()

    expect(ec2.counts()).to.deep.equal({})
  })

  it('lose a tag whose label went while everything was stopped; what was put there by hand stays', async () => {
    const names = ['first-0', 'first-1', 'first-2', 'first-3']
    const claims = await Promise.all(names.map((name) => cluster.kube.claims.get({ namespace, name })))
    const [plain = '', handChanged = '', handKept = '', relabelled = ''] = claims.map(({ metadata }) =>
      ebsVolumeId(metadata.uid),
    )
    const wasThere = await claimWithVolume(cluster.kube, 'was-there', { namespace, labels: { team: 'core' } })
    ec2.addVolume(diskOf(wasThere), { tags: { owner: 'finance' } })
    await cluster.kube.claims.label(wasThere.claim, { owner: 'us' })
    await cluster.kube.volumes.patch(wasThere.volume, {
      metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': null } },
    })
    await bindClaim(cluster.kube, wasThere)
    await taggedAt(ec2, diskOf(wasThere), { owner: 'us', team: 'core' })
    await sleep(1000)

    await restartAll(async () => {
      for (const claim of [...claims.slice(0, 3), wasThere.claim]) {
        await cluster.kube.claims.label(claim, { team: null, owner: null })
      }
      await cluster.kube.claims.label(claims[3] ?? wasThere.claim, { team: 'moved' })
      ec2.setTag(handChanged, 'team', 'by hand')
      ec2.setTag(handKept, 'finance', 'by hand')
    })
    await taggedAt(ec2, relabelled, { team: 'moved' })
    await untilIdle()

    expect(ec2.tagsOf(plain)).to.not.have.property('team')
    expect(ec2.tagsOf(handKept)).to.include({ finance: 'by hand' }).and.to.not.have.property('team')
    expect(ec2.tagsOf(handChanged)).to.include({ team: 'by hand' })
    expect(ec2.tagsOf(diskOf(wasThere))).to.deep.equal({ owner: 'us' })
  })
})

function labelsOf(i: number): Record<string, string> {
  const app = i % apps
  return { app: `app-${app}`, team: `team-${app % 7}`, env: app % 3 === 0 ? 'prod' : 'test', tier: `tier-${app % 4}` }
}

function diskOf({ claim }: ClaimAndVolume): string {
  return ebsVolumeId(claim.metadata.uid)
}

async function tagThousand(prefix: string): Promise<void> {
  const { kube, audit } = cluster
  const pairs = await inParallel(count, (i) =>
    claimWithVolume(kube, `${prefix}-${i}`, { namespace, labels: labelsOf(i) }),
  )
  for (const pair of pairs) ec2.addVolume(diskOf(pair))
  ec2.resetCounts()
  const since = await audit?.mark()

  const startedAtMs = Date.now()
  await inParallel(count, (i) => bindClaim(kube, pairs[i] as ClaimAndVolume, { status: false }), { concurrency: 64 })
  const boundAtMs = Date.now()
  const at = await Promise.all(pairs.map((pair, i) => taggedAt(ec2, diskOf(pair), labelsOf(i), 120_000)))
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  console.log(
    `      all bound after ${seconds(boundAtMs - startedAtMs)}, all tagged after ${seconds(Math.max(...at) - startedAtMs)}`,
  )
  await untilIdle()
  console.log(`      EC2: ${JSON.stringify(ec2.counts())}`)
  for (const user of [setup.webhook.user, setup.reconciler.user]) {
    const counts = await audit?.counts({ user, ...(since !== undefined && { since }) })
    const calls = [...(counts?.byCall ?? [])].map(([call, n]) => `${call} ${(n / count).toFixed(2)}`).join(', ')
    console.log(`      ${user.split(':').at(-1)} per claim: ${calls}; refused by fairness: ${counts?.throttled}`)
  }
  for (const program of product.programs) console.log(`      ${program.name}: ${await figuresOf(program)}`)
}

async function figuresOf(program: ProgramInPlace): Promise<string> {
  const names = ['handed_over_total', 'missed_by_webhook_total', 'queue_overflow_total', 'errors_total']
  const figures = await Promise.all(names.map(async (name) => `${name} ${await product.metric(program, name)}`))
  return figures.join(', ')
}

async function taggedOnce(name: string): Promise<number> {
  const pair = await claimWithVolume(cluster.kube, name, { namespace, labels: { team: name } })
  ec2.addVolume(diskOf(pair))
  await bindClaim(cluster.kube, pair)
  const boundAtMs = Date.now()
  return (await taggedAt(ec2, diskOf(pair), { team: name })) - boundAtMs
}

/** Nothing waits, nothing is at work, and every record is closed. */
async function untilIdle(): Promise<void> {
  const untilMs = performance.now() + 90_000
  for (let quiet = 0; quiet < 5;) {
    await sleep(200)
    const depths = await Promise.all(product.programs.map((program) => product.metric(program, 'queue_depth')))
    const volumes = quiet === 4 ? await cluster.kube.volumes.list() : []
    const open = volumes.some(({ metadata }) =>
      metadata.annotations?.['k8s-cloud-tagger/applied']?.includes('"intent"'),
    )
    quiet = open || depths.some((depth) => depth > 0) ? 0 : quiet + 1
    if (performance.now() > untilMs) throw new Error(`Not idle after 90 s: queue depths ${depths.join(', ')}`)
  }
}

async function restartAll(meanwhile?: () => Promise<void>): Promise<void> {
  await untilIdle()
  for (const { process, name } of product.programs) {
    const { code, stoppedInMs } = await process.stop()
    expect([name, code, stoppedInMs < 5000]).to.deep.equal([name, 0, true])
  }
  ec2.resetCounts()
  await meanwhile?.()
  for (const program of product.programs) await program.restart()
  await sleep(2000)
}
