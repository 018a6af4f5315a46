import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { addNumberedVolumes, numberedVolumeId } from '../../../testing/ec2/control.ts'
import { Ec2Fake, fakeCredentials } from '../../../testing/ec2/ec2-fake.ts'
import type { Ec2FakeOptions } from '../../../testing/ec2/ec2-fake.ts'
import type { DiskRef } from '../../claims/disk.ts'
import { systemClock } from '../../runtime/clock.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { noCloudMetrics } from '../cloud-metrics.ts'
import { ProviderError } from '../provider-error.ts'
import type { CallOptions, Lane } from '../provider.ts'
import type { RunningProvider } from '../running-provider.ts'
import type { AwsProviderDeps } from './aws-provider.ts'
import { createAwsProvider } from './aws-provider.ts'

const deps: AwsProviderDeps = {
  clock: systemClock,
  random: { next: () => 0.5 },
  logger: silentLogger,
  metrics: noCloudMetrics,
  budget: { profile: 'exclusive', share: 1 },
  expected: { readsToCome: () => 0, writesToCome: () => 0 },
  region: 'eu-west-1',
  credentials: fakeCredentials,
}

const options = (lane: Lane = 'fresh'): CallOptions => ({ lane, signal: new AbortController().signal })
const disk = (number: number): DiskRef => ({ id: numberedVolumeId(number) })
const setting = (tags: Readonly<Record<string, string>>) => ({ set: new Map(Object.entries(tags)), remove: new Map() })

/** `ok` or the kind of the error, in order. */
async function outcomesOf(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const results = await Promise.allSettled(calls)
  return results.map((result) => {
    if (result.status === 'fulfilled') return 'ok'
    return result.reason instanceof ProviderError ? result.reason.kind : String(result.reason)
  })
}

describe('AwsProvider, with the SDK against a fake EC2', () => {
  let fake: Ec2Fake
  let provider: RunningProvider

  async function start(fakeOptions: Ec2FakeOptions = {}, more: Partial<AwsProviderDeps> = {}): Promise<void> {
    fake = await Ec2Fake.start(fakeOptions)
    provider = await createAwsProvider({ ...deps, endpoint: fake.url, ...more })
  }

  afterEach(async () => {
    await provider.stop()
    await fake.close()
  })

  it('tags 10,000 disks of 50 apps with four labels in 50 calls', async () => {
    await start()
    addNumberedVolumes(fake, 10_000)

    const outcomes = await outcomesOf(
      Array.from({ length: 10_000 }, (_, i) => {
        const app = i % 50
        const tags = {
          app: `app-${app}`,
          team: `team-${app % 10}`,
          env: ['dev', 'prod'][app % 2] ?? '',
          cost: `${app % 7}`,
        }
        return provider.applyChanges(disk(i + 1), setting(tags), undefined, options('bulk'))
      }),
    )

    expect(new Set(outcomes)).to.deep.equal(new Set(['ok']))
    expect(fake.count('CreateTags').calls).to.equal(50)
    expect(fake.tagsOf(numberedVolumeId(4243))).to.include({ app: 'app-42', team: 'team-2', env: 'dev', cost: '0' })
  })

  it('writes the others of a hundred where one is gone, one denied and one full', async () => {
    await start()
    addNumberedVolumes(fake, 100)
    fake.removeVolume(numberedVolumeId(7))
    fake.deny([numberedVolumeId(50)])
    fake.fill(numberedVolumeId(93))

    const outcomes = await outcomesOf(
      Array.from({ length: 100 }, (_, i) =>
        provider.applyChanges(disk(i + 1), setting({ team: 'core' }), undefined, options()),
      ),
    )

    expect(outcomes.filter((outcome) => outcome === 'ok')).to.have.length(97)
    expect([outcomes[6], outcomes[49], outcomes[92]]).to.deep.equal(['not-found', 'denied', 'invalid'])
    expect(fake.tagsOf(numberedVolumeId(51))).to.include({ team: 'core' })
    expect(fake.count('CreateTags').calls).to.be.at.most(30)
    expect(provider.isSlow(provider.scopeOf(disk(1)))).to.equal(false)
  })

  for (const namesMissing of [true, false]) {
    it(`reads a thousand disks, some of them gone, in few calls (the gone are named: ${namesMissing})`, async () => {
      await start()
      addNumberedVolumes(fake, 990)
      fake.messages({ namesMissing })

      const outcomes = await outcomesOf(
        Array.from({ length: 1000 }, (_, i) => provider.getTags(disk(i + 1), options())),
      )

      expect(outcomes.filter((outcome) => outcome === 'ok')).to.have.length(990)
      expect(outcomes.slice(990)).to.deep.equal(Array.from({ length: 10 }, () => 'not-found'))
      expect(fake.count('DescribeVolumes').calls).to.equal(namesMissing ? 3 : 5)
    })
  }

  it('sweeps 10,000 disks in twenty calls, whatever else is in the account', async () => {
    await start()
    addNumberedVolumes(fake, 30_000)

    let found = 0
    const disks = Array.from({ length: 10_000 }, (_, i) => disk(i + 1))
    for await (const { observed } of provider.listTags(disks, options('bulk'))) found += Number(observed.tags.size > 0)

    expect(found).to.equal(10_000)
    expect(fake.counts()).to.have.all.keys('DescribeVolumes')
    expect(fake.count('DescribeVolumes').calls).to.equal(20)
  })

  it('sees volumes that EKS manages', async () => {
    await start()
    fake.addVolume(numberedVolumeId(1), { tags: { a: '1' }, managed: true })

    expect((await provider.getTags(disk(1), options())).tags.get('a')).to.equal('1')
    expect(fake.calls('DescribeVolumes')[0]?.parameters).to.include({ IncludeManagedResources: 'true' })
  })

  it('gives up a call that hangs, with its outcome unknown, and lets others go on', async () => {
    await start({}, { callTimeoutMs: 300 })
    addNumberedVolumes(fake, 2)
    fake.inject({ kind: 'hang' }, { ids: [numberedVolumeId(1)] })

    const hanging = provider
      .applyChanges(disk(1), setting({ a: '1' }), undefined, options())
      .catch((error: unknown) => error)
    await fake.nextCall('CreateTags')
    await provider.applyChanges(disk(2), setting({ b: '1' }), undefined, options())

    expect(await hanging).to.include({ kind: 'unavailable', code: 'CallTimeout', outcomeUnknown: true })
    expect(fake.tagsOf(numberedVolumeId(2))).to.include({ b: '1' })
  })

  it('sends each call once: a throttle is answered by a slower pace, not by the SDK', async () => {
    await start()
    addNumberedVolumes(fake, 1)
    fake.inject({ kind: 'throttle' }, { times: 5 })

    const [outcome] = await outcomesOf([provider.applyChanges(disk(1), setting({ a: '1' }), undefined, options())])

    expect(outcome).to.equal('throttled')
    expect(fake.count('CreateTags')).to.include({ calls: 1, throttled: 1 })
    const [scope] = provider.status()
    expect(scope?.budgets.find(({ operation }) => operation === 'CreateTags')?.ratePerSecond).to.equal(4)
    expect(scope?.budgets.find(({ operation }) => operation === 'DeleteTags')?.ratePerSecond).to.equal(8)
  })

  it('writes at once when idle', async () => {
    await start({ latencyMs: 50 })
    addNumberedVolumes(fake, 30)
    await provider.applyChanges(disk(1), setting({ warm: 'up' }), undefined, options())

    const tookMs: number[] = []
    for (let i = 1; i <= 20; i++) {
      const beganAtMs = systemClock.monotonicMs()
      await provider.applyChanges(disk(i), setting({ number: `${i}` }), undefined, options())
      tookMs.push(systemClock.monotonicMs() - beganAtMs)
    }

    const median = tookMs.toSorted((a, b) => a - b)[10] ?? 0
    expect(median).to.be.below(50 + 60)
  })

  it('refuses what is no volume of EC2 without asking it', async () => {
    await start()
    const foreign = ['fs-0123456789abcdef0', 'aws://eu-west-1a/vol-0123456789abcdef0', 'vol-x_yz', '']

    const outcomes = await outcomesOf(
      foreign.flatMap((id) => [
        provider.getTags({ id }, options()),
        provider.applyChanges({ id }, setting({ a: '1' }), undefined, options()),
      ]),
    )

    expect(new Set(outcomes)).to.deep.equal(new Set(['invalid']))
    expect(fake.counts()).to.deep.equal({})
  })

  it('goes through the proxy that the environment names', async () => {
    fake = await Ec2Fake.start()
    addNumberedVolumes(fake, 1)
    const asked: string[] = []
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? '')
      const { headers, method = 'GET', url = '' } = request
      const onward = httpRequest(`${fake.url}${new URL(url).pathname}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      request.pipe(onward)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    provider = await createAwsProvider({ ...deps, endpoint: 'http://ec2.test', proxyEnv: { HTTP_PROXY: proxyUrl } })

    await provider.applyChanges(disk(1), setting({ a: '1' }), undefined, options())

    expect(asked).to.deep.equal(['http://ec2.test/'])
    expect(fake.tagsOf(numberedVolumeId(1))).to.include({ a: '1' })
    await provider.stop()
    proxy.closeAllConnections()
    await new Promise((resolve) => proxy.close(resolve))
  })
})

describe('createAwsProvider, with what the SDK finds in its environment', () => {
  const saved = { ...process.env }

  afterEach(() => {
    process.env = { ...saved }
  })

  function setEnvironment(variables: Readonly<Record<string, string>>): void {
    const others = Object.entries(saved).filter(([name]) => !name.startsWith('AWS_'))
    process.env = {
      ...Object.fromEntries(others),
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/dev/null',
      ...variables,
    }
  }

  const { credentials: _credentials, region: _region, ...bare } = deps

  it('takes region, endpoint and Pod Identity from there', async () => {
    await using fake = await Ec2Fake.start({ requireSignature: true, region: 'eu-central-1' })
    addNumberedVolumes(fake, 1)
    setEnvironment({
      AWS_REGION: 'eu-central-1',
      AWS_ENDPOINT_URL_EC2: fake.url,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: fake.podIdentityUrl,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'token',
    })

    const provider = await createAwsProvider(bare)
    await provider.applyChanges(disk(1), setting({ a: '1' }), undefined, options())
    await provider.stop()

    expect(provider.scopeOf(disk(1))).to.equal('aws/eu-central-1')
    expect(fake.tagsOf(numberedVolumeId(1))).to.include({ a: '1' })
  })

  it('says denied, and does not wait, where there are no credentials', async () => {
    await using fake = await Ec2Fake.start()
    setEnvironment({ AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL: fake.url, AWS_SHARED_CREDENTIALS_FILE: '/dev/null' })

    const provider = await createAwsProvider(bare)
    const error = await provider.getTags(disk(1), options()).catch((thrown: unknown) => thrown)
    await provider.stop()

    expect(error).to.include({ kind: 'denied', code: 'CredentialsProviderError' })
    expect(fake.counts()).to.deep.equal({})
  })

  it('says what is missing where no region is to be found', async () => {
    setEnvironment({})

    const error = await createAwsProvider(bare).catch((thrown: unknown) => thrown)

    expect(String(error)).to.contain('set aws.region in the configuration, or AWS_REGION')
  })
})
