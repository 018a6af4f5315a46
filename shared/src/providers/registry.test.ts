import { expect } from 'chai'
import { FakeClock } from '../../testing/fake-clock.ts'
import { silentLogger } from '../runtime/logger.ts'
import { ownForm } from '../tags/tag-form.ts'
import { noCloudMetrics } from './cloud-metrics.ts'
import type { ProviderDeps } from './registry.ts'
import { createProvider } from './registry.ts'

const deps: ProviderDeps = {
  clock: new FakeClock(),
  random: { next: () => 0.5 },
  logger: silentLogger,
  metrics: noCloudMetrics,
  expected: { readsToCome: () => 0, writesToCome: () => 0 },
  budget: { profile: 'shared', share: 1 },
  tagForm: ownForm,
  aws: { region: 'eu-west-1', endpoint: '', callTimeoutMs: 10_000 },
  gcp: { project: '', endpoint: '', callTimeoutMs: 10_000 },
  azure: { resourceManagerEndpoint: '', authorityHost: '', callTimeoutMs: 10_000 },
}

describe('createProvider', () => {
  it('has a cloud in memory, with nothing to pace', async () => {
    const provider = await createProvider('mock', deps)

    expect(provider.name).to.equal('mock')
    expect(provider.status()).to.deep.equal([])
    expect(provider.isSlow('memory')).to.equal(false)
    provider.poke()
    await provider.stop()
  })

  it('has aws, for one region', async () => {
    const provider = await createProvider('aws', deps)

    expect(provider.name).to.equal('aws')
    expect(provider.scopeOf({ id: 'vol-0123456789abcdef0' })).to.equal('aws/eu-west-1')
    await provider.stop()
  })

  it('has azure, whose subscriptions are those of the disks', async () => {
    const provider = await createProvider('azure', deps)

    expect(provider.name).to.equal('azure')
    expect(provider.scopeOf({ id: '' })).to.equal('azure')
    await provider.stop()
  })

  it('has gcp, whose projects are those of the disks', async () => {
    const provider = await createProvider('gcp', deps)

    expect(provider.name).to.equal('gcp')
    expect(provider.scopeOf({ id: 'projects/p/zones/z/disks/d' })).to.equal('gcp/p')
    await provider.stop()
  })
})
