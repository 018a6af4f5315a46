import { expect } from 'chai'
import { webhookName } from './webhook-registration.ts'
import { eventually } from './eventually.ts'
import { Installation } from './installation.ts'
import type { RunningProgram } from './running-program.ts'

describe('a program that is told to stop', function () {
  this.timeout(60_000)
  let installation: Installation
  let made = 0

  before(async () => {
    installation = await Installation.start({
      provisioner: true,
      config: { budget: { profile: 'exclusive', webhookReplicas: 2 }, reconciler: { headStart: '2s' } },
    })
    installation.cloud.latencyMs = 50
    await installation.kubernetes.createNamespace('shop')
  })

  after(() => installation.stop())

  /** Makes and relabels claims, one after another in each of four lanes, until told to stop. */
  function load(): { readonly stop: () => Promise<void> } {
    const stopping = new AbortController()
    const lanes = Array.from({ length: 4 }, async () => {
      while (!stopping.signal.aborted) {
        const name = `data-${made++}`
        const labels = { app: 'shop' }
        await installation.kubernetes.createClaim({ namespace: 'shop', name, labels, storageClassName: 'fast' })
        await eventually(`${name} to be bound`, () => diskOf(name) !== undefined)
        await installation.kubernetes.setLabels('shop', name, { team: 'core' })
      }
    })
    return {
      stop: async () => {
        stopping.abort()
        await Promise.all(lanes)
      },
    }
  }

  function diskOf(name: string): string | undefined {
    const volume = installation.kubernetes.get('persistentvolumeclaims', name, 'shop')?.spec?.['volumeName']
    if (typeof volume !== 'string') return undefined
    const csi = installation.kubernetes.get('persistentvolumes', volume)?.spec?.['csi']
    return (csi as { volumeHandle: string } | undefined)?.volumeHandle
  }

  async function everyDiskIsTagged(): Promise<void> {
    for (let i = 0; i < made; i++) {
      const disk = diskOf(`data-${i}`)
      if (disk === undefined) throw new Error(`data-${i} has no disk`)
      await installation.untilTagged(disk, { app: 'shop', team: 'core' }, 30_000)
    }
  }

  /** As a Service does: half a second after a replica says that it is not ready, nothing new is sent to it. */
  async function moveOn(from: RunningProgram, to: RunningProgram): Promise<void> {
    await eventually(`${from.name} not to be ready`, async () => (await from.get('/readyz')).status === 503)
    await new Promise((resolve) => setTimeout(resolve, 500))
    await installation.register(to.webhookPort)
  }

  it('ends within 5 s with 0 under load; no admission call fails, and what it left is done by the next one', async () => {
    const [first, second, reconciler] = await Promise.all([
      installation.webhook({ name: 'webhook-0' }),
      installation.webhook({ name: 'webhook-1' }),
      installation.reconciler(),
    ])
    await installation.register(first.webhookPort)
    const { stop } = load()
    await eventually('the first webhook to have work', async () => (await first.metric('reconcile_total')) > 50)

    const [webhookEnd, reconcilerEnd] = await Promise.all([
      first.process.terminate(),
      reconciler.process.terminate(),
      moveOn(first, second),
    ])
    const secondEnd = second.process.terminate()
    await stop()
    const { tookMs, code } = await secondEnd

    expect([webhookEnd.code, reconcilerEnd.code, code]).to.deep.equal([0, 0, 0])
    expect(Math.max(webhookEnd.tookMs, reconcilerEnd.tookMs, tookMs)).to.be.below(5000)
    const { calls, failedOpen } = installation.kubernetes.webhookCounts(webhookName)
    expect(calls).to.be.above(100)
    expect(failedOpen).to.equal(0)

    await installation.reconciler()
    await everyDiskIsTagged()
  })
})
