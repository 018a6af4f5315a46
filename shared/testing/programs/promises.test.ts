import { expect } from 'chai'
import { PlainClient } from '../kubernetes/plain-client.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { Installation } from './installation.ts'
import type { RunningProgram } from './running-program.ts'
import { webhookName } from './webhook-registration.ts'

describe('both programs at work', function () {
  this.timeout(30_000)
  let installation: Installation
  let webhook: RunningProgram
  let reconciler: RunningProgram
  let client: PlainClient

  before(async () => {
    installation = await Installation.start({ config: { reconciler: { headStart: '1s' } } })
    const { kubernetes } = installation
    client = new PlainClient(kubernetes)
    for (const name of ['db', 'evil', 'odd', 'blind']) await kubernetes.createNamespace(name)
    await installation.rememberSweep()
    const started = await Promise.all([installation.webhook(), installation.reconciler()])
    webhook = started[0]
    reconciler = started[1]
    await installation.register(webhook.webhookPort, { namespaces: ['db', 'evil', 'odd'] })
  })

  after(async () => {
    client.close()
    await installation.stop()
  })

  async function bothIdle(): Promise<void> {
    await webhook.idle()
    await reconciler.idle()
  }

  function cloudCalls(): number {
    return Object.values(installation.cloud.counts()).reduce((sum, { calls }) => sum + calls, 0)
  }

  it('answer a dry run and do nothing about it', async () => {
    installation.boundClaim({ namespace: 'db', name: 'dry' })
    await bothIdle()
    const before = { calls: cloudCalls(), passes: await webhook.metric('reconcile_total') }
    const path = '/api/v1/namespaces/db/persistentvolumeclaims/dry?dryRun=All'

    const { code } = await client.patch(path, { metadata: { labels: { team: 'core' } } })

    expect(code).to.equal(200)
    expect(await webhook.metric('reviews_total', 'outcome="dry-run"')).to.equal(1)
    await bothIdle()
    expect(await webhook.metric('reconcile_total')).to.equal(before.passes)
    expect(cloudCalls()).to.equal(before.calls)
  })

  it("tag nothing for a claim that names somebody else's volume", async () => {
    const { disk, volume } = installation.boundClaim({ namespace: 'db', name: 'owner', labels: { owner: 'db' } })
    await installation.untilTagged(disk, { owner: 'db' })
    await bothIdle()
    const before = cloudCalls()
    const thief = { namespace: 'evil', name: 'thief', volumeName: volume }

    await installation.kubernetes.createClaim({ ...thief, labels: { owner: 'evil' } })
    await installation.kubernetes.setLabels('evil', 'thief', { owner: 'still-evil' })

    await eventually(
      'both programs to have looked at it',
      async () =>
        (await webhook.metric('reconcile_total', 'outcome="skipped"')) >= 1 &&
        (await reconciler.metric('claims', 'reason="volume-of-another-claim"')) === 1,
    )
    await bothIdle()
    expect(installation.cloud.tagsOf(disk)).to.deep.equal({ owner: 'db' })
    expect(cloudCalls()).to.equal(before)
  })

  it('spend no cloud call and no line of the log on claims that have no disk of this cloud', async () => {
    const { kubernetes } = installation
    const sources: Readonly<Record<string, Record<string, unknown>>> = {
      efs: { csi: { driver: 'efs.csi.aws.com', volumeHandle: 'fs-0123456789abcdef0' } },
      gce: { csi: { driver: 'pd.csi.storage.gke.io', volumeHandle: 'projects/p/zones/z/disks/d' } },
      nfs: { nfs: { server: 'nfs.example.com', path: '/' } },
      'host-path': { hostPath: { path: '/data' } },
      local: { local: { path: '/mnt/disks/ssd1' } },
    }
    const names = [...Object.keys(sources), 'unbound']
    const before = { calls: cloudCalls(), passes: await webhook.metric('reconcile_total') }
    for (const [name, source] of Object.entries(sources)) {
      await installation.boundVolume({ namespace: 'odd', name }, { name: `pv-${name}`, source })
    }
    await kubernetes.createClaim({ namespace: 'odd', name: 'unbound' })

    for (const team of ['core', 'infra', 'core']) {
      for (const name of names) await kubernetes.setLabels('odd', name, { team })
    }

    await eventually(
      'both programs to have looked at them',
      async () =>
        (await webhook.metric('reconcile_total')) > before.passes &&
        (await reconciler.metric('claims', 'reason="unsupported-volume"')) === 5 &&
        (await reconciler.metric('claims', 'reason="claim-unbound"')) >= 1,
    )
    await bothIdle()
    expect(cloudCalls()).to.equal(before.calls)
    for (const { lines } of [webhook, reconciler]) {
      expect(lines.filter((line) => JSON.stringify(line).includes('"odd/'))).to.deep.equal([])
    }
    expect(kubernetes.events('odd')).to.deep.equal([])
  })

  it('hold up no claim because the call for another one hangs', async () => {
    const stuck = installation.boundClaim({ namespace: 'db', name: 'stuck' })
    const others = Array.from({ length: 5 }, (_, i) => installation.boundClaim({ namespace: 'db', name: `other-${i}` }))
    const hang = installation.cloud.inject({ kind: 'hang' }, { action: 'CreateTags', ids: [stuck.disk] })
    await installation.kubernetes.setLabels('db', 'stuck', { team: 'stuck' })
    await eventually('the call to hang', () => hang.hits === 1)

    const startMs = performance.now()
    for (const [i, { disk }] of others.entries()) {
      await installation.kubernetes.setLabels('db', `other-${i}`, { team: 'core' })
      await installation.untilTagged(disk, { team: 'core' }, 3000)
    }

    expect(performance.now() - startMs).to.be.below(5000)
    expect(installation.cloud.tagsOf(stuck.disk)).to.deep.equal({})
    installation.cloud.release()
    await installation.untilTagged(stuck.disk, { team: 'stuck' })
  })

  it('let claims be made at once while the webhook is down, and tag them all the same', async () => {
    const { kubernetes } = installation
    await installation.register(await freePort(), { name: 'down', namespaces: ['blind'] })
    const { failedOpen } = kubernetes.webhookCounts(webhookName)
    const missed = await reconciler.metric('missed_by_webhook_total')
    const disk = installation.addDisk()
    const startMs = performance.now()

    await installation.boundVolume(
      { namespace: 'blind', name: 'data', labels: { team: 'core' } },
      { name: 'pv-blind', handle: disk },
    )

    expect(performance.now() - startMs).to.be.below(500)
    expect(kubernetes.webhookCounts(webhookName).failedOpen).to.equal(failedOpen + 1)
    await installation.untilTagged(disk, { team: 'core' })
    expect(await reconciler.metric('missed_by_webhook_total')).to.equal(missed + 1)
  })
})

describe('the reconciler, started again', function () {
  this.timeout(30_000)
  let installation: Installation
  let reconciler: RunningProgram

  before(async () => {
    installation = await Installation.start({ config: { webhook: { enabled: false } } })
    await installation.rememberSweep()
  })

  after(() => installation.stop())

  it('makes no call to the cloud where nothing changed', async () => {
    const claims = Array.from({ length: 40 }, (_, i) =>
      installation.boundClaim({ namespace: 'db', name: `data-${i}`, labels: { app: `app-${i % 5}` } }),
    )
    reconciler = await installation.reconciler()
    for (const [i, { disk }] of claims.entries()) await installation.untilTagged(disk, { app: `app-${i % 5}` })
    for (const { volume } of claims) {
      await eventually(`the record of ${volume}`, () => installation.recordOf(volume)?.settled.size === 1)
    }
    expect((await reconciler.process.terminate()).code).to.equal(0)
    installation.cloud.resetCounts()

    for (let restart = 0; restart < 2; restart++) {
      reconciler = await installation.reconciler()
      await reconciler.idle(40)
      expect(await reconciler.metric('reconcile_total', 'outcome="in-sync"')).to.equal(40)
      await reconciler.process.terminate()
    }

    expect(installation.cloud.counts()).to.deep.equal({})
  })

  it('takes a tag away whose label went while nothing ran, and leaves what others put there', async () => {
    const { cloud, kubernetes } = installation
    const labels = { team: 'core', gone: 'soon' }
    const plain = installation.boundClaim({ namespace: 'db', name: 'plain', labels })
    const older = installation.boundClaim({ namespace: 'db', name: 'older', labels }, { gone: 'was there first' })
    const touched = installation.boundClaim({ namespace: 'db', name: 'touched', labels })
    const all = [plain, older, touched]
    reconciler = await installation.reconciler()
    for (const { disk } of all) await installation.untilTagged(disk, labels)
    for (const { volume } of all) {
      await eventually(`the record of ${volume}`, () => installation.recordOf(volume)?.settled.size === 2)
    }
    await reconciler.process.terminate()

    for (const { disk } of all) cloud.setTag(disk, 'cost-center', '4711')
    cloud.setTag(touched.disk, 'gone', 'by hand')
    for (const name of ['plain', 'older', 'touched']) await kubernetes.removeLabel('db', name, 'gone')
    reconciler = await installation.reconciler()

    await installation.untilTagged(plain.disk, { team: 'core', 'cost-center': '4711' })
    await reconciler.idle(43)
    expect(cloud.tagsOf(older.disk)).to.deep.equal({ team: 'core', 'cost-center': '4711', gone: 'soon' })
    expect(cloud.tagsOf(touched.disk)).to.deep.equal({ team: 'core', 'cost-center': '4711', gone: 'by hand' })
    for (const { volume } of all) {
      await eventually(`the record of ${volume}`, () => installation.recordOf(volume)?.settled.size === 1)
    }
  })
})
