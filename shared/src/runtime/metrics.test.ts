import { expect } from 'chai'
import { createMetrics, startAtZero } from './metrics.ts'

describe('createMetrics', () => {
  it('gives every metric the prefix, a help text, and a name of its own', async () => {
    const all = await createMetrics({ version: '1.2.3', program: 'webhook' }).registry.getMetricsAsJSON()

    expect(all.length).to.be.above(25)
    for (const { name, help } of all) {
      expect(name).to.match(/^k8s_cloud_tagger_[a-z_]+$/)
      expect(help).to.match(/\.$/)
    }
    expect(new Set(all.map(({ name }) => name)).size).to.equal(all.length)
  })

  it('can be made twice: nothing is global', () => {
    const first = createMetrics({ version: '1.2.3', program: 'webhook' })
    const second = createMetrics({ version: '1.2.3', program: 'reconciler' })

    expect(first.registry).to.not.equal(second.registry)
  })
})

describe('startAtZero', () => {
  it('shows a counter before its first increase, and takes nothing away from one that has begun', async () => {
    const { errors } = createMetrics({ version: '1.2.3', program: 'webhook' })
    const cloud = { resource: 'persistentvolumeclaim', error_type: 'cloud' }
    const kubernetes = { resource: 'persistentvolumeclaim', error_type: 'kubernetes' }
    errors.inc(cloud)

    startAtZero(errors, [cloud, kubernetes])

    expect((await errors.get()).values.map(({ value }) => value)).to.deep.equal([1, 0])
  })
})
