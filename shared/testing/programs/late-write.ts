import { expect } from 'chai'
import { eventually } from './eventually.ts'
import { Installation } from './installation.ts'

const callTimeoutMs = 1000

/**
 * Two webhooks, a write of the first that lands when its client has long given up, and the label removed through the
 * second meanwhile. Rejects where the tag stays, or the record says something else.
 */
export async function survivesLateWrite(): Promise<void> {
  const config = { aws: { callTimeout: '1s' }, reconciler: { enabled: false }, budget: { webhookReplicas: 2 } }
  const installation = await Installation.start({ config })
  try {
    const { cloud, kubernetes } = installation
    const { disk, volume } = installation.boundClaim({ namespace: 'db', name: 'data' }, { foreign: 'keep' })
    await kubernetes.createNamespace('db')
    const [first, second] = await Promise.all([
      installation.webhook({ name: 'webhook-0' }),
      installation.webhook({ name: 'webhook-1' }),
    ])
    // Within the time for which its intent is kept.
    const late = cloud.inject({ kind: 'late-write', landsAfterMs: 2.5 * callTimeoutMs }, { action: 'CreateTags' })
    await installation.register(first.webhookPort)
    await kubernetes.setLabels('db', 'data', { team: 'core' })
    await eventually('the write to be on its way', () => late.hits === 1)

    await installation.register(second.webhookPort)
    await kubernetes.removeLabel('db', 'data', 'team')
    await cloud.landed()
    expect(cloud.tagsOf(disk)).to.include({ team: 'core' })

    await installation.untilTagged(disk, { foreign: 'keep' }, 20_000)
    await eventually('the record to be closed', () => installation.recordOf(volume)?.intent === undefined)
    expect([...(installation.recordOf(volume)?.settled ?? [])]).to.deep.equal([])
    await Promise.all([first.idle(), second.idle()])
    expect(cloud.tagsOf(disk)).to.deep.equal({ foreign: 'keep' })
  } finally {
    await installation.stop()
  }
}
