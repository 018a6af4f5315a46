import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { AzureFake, fakeCredential, type AzureFakeOptions } from '../../../testing/azure/azure-fake.ts'
import { addNumberedDisks, numberedDiskId } from '../../../testing/azure/control.ts'
import type { DiskRef } from '../../claims/disk.ts'
import { planChanges } from '../../plan/plan.ts'
import { systemClock } from '../../runtime/clock.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { noCloudMetrics } from '../cloud-metrics.ts'
import { ProviderError } from '../provider-error.ts'
import type { CallOptions, Lane } from '../provider.ts'
import type { RunningProvider } from '../running-provider.ts'
import { createAzureProvider, type AzureProviderDeps } from './azure-provider.ts'

const deps: AzureProviderDeps = {
  clock: systemClock,
  random: { next: () => 0.5 },
  logger: silentLogger,
  metrics: noCloudMetrics,
  budget: { profile: 'exclusive', share: 1 },
  credential: fakeCredential,
  quietAfterWriteMs: 0,
}

const options = (lane: Lane = 'fresh'): CallOptions => ({ lane, signal: new AbortController().signal })
const disk = (number: number, group?: string): DiskRef => ({ id: numberedDiskId(number, group).toLowerCase() })
const setting = (tags: Readonly<Record<string, string>>) => ({ set: new Map(Object.entries(tags)), remove: new Map() })

/** `ok` or the kind of the error, in order. */
async function outcomesOf(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const results = await Promise.allSettled(calls)
  return results.map((result) => {
    if (result.status === 'fulfilled') return 'ok'
    return result.reason instanceof ProviderError ? result.reason.kind : String(result.reason)
  })
}

describe('AzureProvider, with the SDK against a fake Azure', () => {
  let fake: AzureFake
  let provider: RunningProvider

  async function start(fakeOptions: AzureFakeOptions = {}, more: Partial<AzureProviderDeps> = {}): Promise<void> {
    fake = await AzureFake.start(fakeOptions)
    provider = await createAzureProvider({ ...deps, resourceManagerEndpoint: fake.url, ...more })
  }

  afterEach(async () => {
    await provider.stop()
    await fake.close()
  })

  it('writes a disk in one call, which nobody polls', async () => {
    await start()
    addNumberedDisks(fake, 1)

    await provider.applyChanges(disk(1), setting({ team: 'core', 'a:b': 'Dev/Test' }), undefined, options())

    expect(Object.keys(fake.counts())).to.deep.equal(['MergeTags'])
    const [call] = fake.calls()
    expect(JSON.parse(call?.body ?? '')).to.deep.equal({
      operation: 'Merge',
      properties: { tags: { team: 'core', 'a:b': 'Dev/Test' } },
    })
    expect([call?.method, call?.authorization]).to.deep.equal(['PATCH', 'Bearer fake-token'])
    expect(call?.path).to.match(
      /\/disks\/pvc-1\/providers\/Microsoft\.Resources\/tags\/default\?api-version=2025-04-01$/,
    )
    expect(fake.tagsOf(disk(1).id)).to.include({
      team: 'core',
      'a:b': 'Dev/Test',
      'k8s-azure-created-by': 'kubernetes-azure-dd',
    })
  })

  it('keeps a tag that another writer adds between a read and a write', async () => {
    await start()
    addNumberedDisks(fake, 1)
    const observed = await provider.getTags(disk(1), options())
    fake.setTag(disk(1).id, 'finance', 'z')

    await provider.applyChanges(disk(1), setting({ team: 'core' }), observed, options())

    expect(fake.tagsOf(disk(1).id)).to.include({ finance: 'z', team: 'core' })
  })

  it('lets a plan take a tag in another case for the one that is wished', async () => {
    await start()
    fake.addDisk(disk(1).id, { tags: { team: 'core', COST: '41', foreign: 'x' } })
    const wish = provider.normalize(new Map(Object.entries({ Team: 'core', cost: '42' }))).tags
    const owned = new Map([
      ['Team', { values: ['core'], before: false }],
      ['Cost', { values: ['41'], before: false }],
    ])
    const plan = async () => {
      const { tags } = await provider.getTags(disk(1), options())
      return planChanges({
        wish,
        owned,
        observed: tags,
        policy: 'overwrite',
        mayRemove: () => true,
        adopt: false,
        limit: provider.tagsPerDisk,
      })
    }

    const { changes } = await plan()
    await provider.applyChanges(disk(1), changes, undefined, options())
    const again = await plan()

    expect([Object.fromEntries(changes.set), changes.remove.size]).to.deep.equal([{ cost: '42' }, 0])
    expect(fake.tagsOf(disk(1).id)).to.deep.equal({ team: 'core', COST: '42', foreign: 'x' })
    expect([again.changes.set.size, again.changes.remove.size]).to.deep.equal([0, 0])
  })

  it('takes two spellings of one disk for one', async () => {
    await start()
    addNumberedDisks(fake, 1)
    const spelled = { id: numberedDiskId(1).replace('/resourceGroups/', '/RESOURCEGROUPS/') }

    await provider.applyChanges(spelled, setting({ a: '1' }), undefined, options())
    const { tags } = await provider.getTags(disk(1), options())

    expect(tags.get('a')).to.equal('1')
    expect(provider.scopeOf(spelled)).to.equal(provider.scopeOf(disk(1)))
  })

  it('loses nothing of two changes in a row, although Azure works the second out from what was', async () => {
    await start({}, { quietAfterWriteMs: 150 })
    fake.addDisk(disk(1).id, { tags: { old: '1', foreign: 'x' } })
    fake.consistency({ readLagMs: 100 })
    const renaming = { set: new Map([['new', '1']]), remove: new Map([['old', ['1']]]) }

    await provider.applyChanges(disk(1), renaming, undefined, options())
    await provider.applyChanges(disk(1), setting({ more: '2' }), undefined, options())
    const { tags } = await provider.getTags(disk(1), options())

    expect(fake.tagsOf(disk(1).id)).to.deep.equal({ foreign: 'x', new: '1', more: '2' })
    expect(Object.fromEntries(tags)).to.deep.equal({ foreign: 'x', new: '1', more: '2' })
  })

  it('sweeps 10,000 disks in ten calls, whatever is in other groups', async () => {
    await start()
    addNumberedDisks(fake, 10_000)
    addNumberedDisks(fake, 20_000, 'somebody-elses')

    let found = 0
    const disks = Array.from({ length: 10_000 }, (_, i) => disk(i + 1))
    for await (const { observed } of provider.listTags(disks, options('bulk'))) found += Number(observed.tags.size > 0)

    expect(found).to.equal(10_000)
    expect(fake.counts()).to.deep.equal({ QueryResources: { calls: 10, throttled: 0, failed: 0 } })
  })

  it('sees in a sweep what Resource Graph still shows, and the truth in a single read', async () => {
    await start()
    addNumberedDisks(fake, 1)
    fake.consistency({ graphLagMs: 60_000 })

    await provider.applyChanges(disk(1), setting({ a: '1' }), undefined, options())
    const listed: unknown[] = []
    for await (const { observed } of provider.listTags([disk(1)], options())) listed.push(observed.tags.get('a'))
    const { tags } = await provider.getTags(disk(1), options())

    // Resource Graph does not know a disk of that age at all.
    expect([listed, tags.get('a')]).to.deep.equal([[], '1'])
    expect(provider.readLagMs).to.equal(600_000)
  })

  it('keeps within the buckets of Azure, so that a flood is never throttled', async () => {
    await start({ buckets: true })
    addNumberedDisks(fake, 165)

    const outcomes = await outcomesOf(
      Array.from({ length: 165 }, (_, i) =>
        provider.applyChanges(disk(i + 1), setting({ a: '1' }), undefined, options()),
      ),
    )

    expect(new Set(outcomes)).to.deep.equal(new Set(['ok']))
    expect(fake.count('MergeTags')).to.deep.equal({ calls: 165, throttled: 0, failed: 0 })
    expect(fake.inFlightMax).to.be.at.most(4)
  })

  it('slows down, once, when Azure says that little is left', async () => {
    await start()
    addNumberedDisks(fake, 3)
    fake.remaining({ 'x-ms-ratelimit-remaining-subscription-writes': '12' })
    const rate = () => {
      const budgets = provider.status().flatMap(({ budgets }) => budgets)
      return budgets.map(({ operation, ratePerSecond }) => `${operation} ${ratePerSecond}`)
    }

    await provider.applyChanges(disk(1), setting({ a: '1' }), undefined, options())
    await provider.applyChanges(disk(2), setting({ a: '1' }), undefined, options())

    expect(rate()).to.deep.equal(['GetTags 20', 'UpdateTags 4', 'QueryResources 2.4'])
  })

  it('sends each call once, and passes on how long Azure wants to be left alone', async () => {
    await start()
    addNumberedDisks(fake, 2)
    fake.inject({ kind: 'throttle', retryAfterSeconds: 17 }, { times: 5 })

    const error = await provider
      .applyChanges(disk(1), setting({ a: '1' }), undefined, options())
      .catch((thrown: unknown) => thrown)

    expect(error).to.include({
      kind: 'throttled',
      code: 'TooManyRequests',
      retryAfterMs: 17_000,
      outcomeUnknown: false,
    })
    expect(fake.count('MergeTags')).to.include({ calls: 1, throttled: 1 })
    const [scope] = provider.status()
    expect(scope?.pausedForMs).to.be.within(16_000, 17_000)
  })

  it('slows the writes of a resource group that Azure protects, and of no other', async () => {
    await start()
    addNumberedDisks(fake, 5)
    addNumberedDisks(fake, 1, 'data')
    fake.lockDown('mc_demo_aks_westeurope')

    const errors = await Promise.all(
      [1, 2].map((number) =>
        provider
          .applyChanges(disk(number), setting({ a: '1' }), undefined, options())
          .catch((thrown: unknown) => thrown),
      ),
    )
    const outcomes = await outcomesOf([
      provider.applyChanges(disk(3), setting({ a: '1' }), undefined, options()),
      provider.applyChanges(disk(1, 'data'), setting({ a: '1' }), undefined, options()),
      provider.getTags(disk(3), options()),
    ])

    expect(errors[0]).to.include({ kind: 'denied', code: 'DenyAssignmentAuthorizationFailed' })
    expect(String(errors[0])).to.contain('StorageClass parameter resourceGroup')
    expect(outcomes).to.deep.equal(['denied', 'ok', 'ok'])
    expect(fake.count('MergeTags').calls).to.equal(3)
    expect([disk(1), disk(1, 'data')].map((disk) => provider.isSlow(provider.scopeOf(disk)))).to.deep.equal([
      true,
      false,
    ])
  })

  it('says denied for a lock, with its name', async () => {
    await start()
    addNumberedDisks(fake, 1)
    fake.lock(disk(1).id)

    const error = await provider
      .applyChanges(disk(1), setting({ a: '1' }), undefined, options())
      .catch((thrown: unknown) => thrown)

    expect(error).to.include({ kind: 'denied', code: 'ScopeLocked', outcomeUnknown: false })
  })

  it('gives up a call that hangs, with its outcome unknown, and lets others go on', async () => {
    await start({}, { callTimeoutMs: 300 })
    addNumberedDisks(fake, 2)
    fake.inject({ kind: 'hang' }, { ids: [disk(1).id] })

    const hanging = provider
      .applyChanges(disk(1), setting({ a: '1' }), undefined, options())
      .catch((error: unknown) => error)
    await fake.nextCall('MergeTags')
    await provider.applyChanges(disk(2), setting({ b: '1' }), undefined, options())

    expect(await hanging).to.include({ kind: 'unavailable', code: 'CallTimeout', outcomeUnknown: true })
    expect(fake.tagsOf(disk(2).id)).to.include({ b: '1' })
  })

  it('never takes an answer that it cannot read for a disk without tags', async () => {
    await start()
    addNumberedDisks(fake, 1)
    const listed = async () => {
      for await (const { disk: found } of provider.listTags([disk(1)], options())) throw new Error(`listed ${found.id}`)
    }

    for (const body of [
      '<html>',
      '{}',
      '[]',
      '{"properties":{"tags":"none"}}',
      '{"data":{}}',
      '{"data":[{"tags":null}]}',
    ]) {
      fake.inject({ kind: 'garbage', body }, { times: 2 })
      expect(await outcomesOf([provider.getTags(disk(1), options())])).to.deep.equal(['unavailable'])
      expect(await outcomesOf([listed()])).to.deep.equal(['unavailable'])
    }
  })

  it('writes at once when idle', async () => {
    await start({ latencyMs: 50 })
    addNumberedDisks(fake, 30)
    await provider.applyChanges(disk(30), setting({ warm: 'up' }), undefined, options())

    const tookMs: number[] = []
    for (let i = 1; i <= 20; i++) {
      const beganAtMs = systemClock.monotonicMs()
      await provider.applyChanges(disk(i), setting({ number: `${i}` }), undefined, options())
      tookMs.push(systemClock.monotonicMs() - beganAtMs)
    }

    const median = tookMs.toSorted((a, b) => a - b)[10] ?? 0
    expect(median).to.be.below(50 + 20)
  })

  it('refuses what is no managed disk without asking Azure', async () => {
    await start()
    const foreign = ['vol-0123456789abcdef0', 'https://a.blob.core.windows.net/vhds/x.vhd', `${disk(1).id}/x`, '']

    const outcomes = await outcomesOf(
      foreign.flatMap((id) => [
        provider.getTags({ id }, options()),
        provider.applyChanges({ id }, setting({ a: '1' }), undefined, options()),
      ]),
    )

    expect(new Set(outcomes)).to.deep.equal(new Set(['invalid']))
    expect(fake.counts()).to.deep.equal({})
    expect(provider.scopeOf({ id: '' })).to.equal('azure')
  })

  it('gives up at once, when it ends, what waits for a disk to settle', async () => {
    await start({}, { quietAfterWriteMs: 60_000 })
    addNumberedDisks(fake, 1)
    await provider.applyChanges(disk(1), setting({ a: '1' }), undefined, options())

    const waiting = outcomesOf([
      provider.getTags(disk(1), options()),
      provider.applyChanges(disk(1), setting({ a: '2' }), undefined, options()),
    ])
    await provider.stop()

    expect(await waiting).to.deep.equal(['unavailable', 'unavailable'])
    expect(fake.counts()).to.deep.equal({ MergeTags: { calls: 1, throttled: 0, failed: 0 } })
  })

  it('gives up what comes after its end', async () => {
    await start()
    addNumberedDisks(fake, 1)
    await provider.stop()

    expect(await outcomesOf([provider.getTags(disk(1), options())])).to.deep.equal(['unavailable'])
  })

  it('tells how each resource group stands, and the budget of a subscription once', async () => {
    await start()
    addNumberedDisks(fake, 1)
    addNumberedDisks(fake, 1, 'data')

    await provider.getTags(disk(1), options())
    await provider.getTags(disk(1, 'data'), options())

    const subscription = provider.scopeOf(disk(1)).split('/')[1]
    expect(provider.status().map(({ budgets, scope }) => [scope, budgets.length])).to.deep.equal([
      [`azure/${subscription}`, 2],
      [`azure/${subscription}/mc_demo_aks_westeurope`, 0],
      [`azure/${subscription}/data`, 0],
      ['azure/resource-graph', 1],
    ])
  })
})

describe('createAzureProvider, with what the SDK finds in its environment', () => {
  const saved = { ...process.env }
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'azure-'))
  })

  afterEach(async () => {
    process.env = { ...saved }
    await rm(folder, { recursive: true })
  })

  async function setWorkloadIdentity(variables: Readonly<Record<string, string>> = {}): Promise<void> {
    const tokenFile = join(folder, 'token')
    await writeFile(tokenFile, 'a.service-account.token')
    const others = Object.entries(saved).filter(([name]) => !name.startsWith('AZURE_'))
    process.env = {
      ...Object.fromEntries(others),
      AZURE_TENANT_ID: '11111111-2222-3333-4444-555555555555',
      AZURE_CLIENT_ID: '66666666-2222-3333-4444-555555555555',
      AZURE_FEDERATED_TOKEN_FILE: tokenFile,
      ...variables,
    }
  }

  const { credential: _credential, ...bare } = deps

  it('gets a token for the service account, once for many calls', async () => {
    await using fake = await AzureFake.start({ requireToken: true })
    addNumberedDisks(fake, 20)
    await setWorkloadIdentity()

    const provider = await createAzureProvider({ ...bare, resourceManagerEndpoint: fake.url, authorityHost: fake.url })
    const outcomes = await outcomesOf(
      Array.from({ length: 20 }, (_, i) =>
        provider.applyChanges(disk(i + 1), setting({ a: '1' }), undefined, options()),
      ),
    )
    await provider.stop()

    expect(new Set(outcomes)).to.deep.equal(new Set(['ok']))
    expect(fake.count('Token').calls).to.equal(1)
    const [token] = fake.calls('Token')
    expect(new URLSearchParams(token?.body).get('client_assertion')).to.equal('a.service-account.token')
    expect(new URLSearchParams(token?.body).get('scope')).to.contain('/.default')
  })

  it('says denied, with nothing sent, where Entra ID does not accept the identity', async () => {
    await using fake = await AzureFake.start({ requireToken: true })
    addNumberedDisks(fake, 1)
    await setWorkloadIdentity()
    fake.inject(
      { kind: 'error', code: 'unauthorized_client', message: 'AADSTS700016: not found' },
      { operation: 'Token' },
    )

    const provider = await createAzureProvider({ ...bare, resourceManagerEndpoint: fake.url, authorityHost: fake.url })
    const error = await provider
      .applyChanges(disk(1), setting({ a: '1' }), undefined, options())
      .catch((thrown: unknown) => thrown)
    await provider.stop()

    expect(error).to.include({ kind: 'denied', code: 'unauthorized_client', outcomeUnknown: false })
    expect(String(error)).to.contain('AADSTS700016')
    expect(fake.count('MergeTags').calls).to.equal(0)
  })

  it('says unavailable, with nothing sent, where Entra ID cannot be reached, and recovers', async () => {
    await using fake = await AzureFake.start({ requireToken: true })
    addNumberedDisks(fake, 1)
    await setWorkloadIdentity()
    fake.inject({ kind: 'drop' }, { operation: 'Token' })

    const provider = await createAzureProvider({ ...bare, resourceManagerEndpoint: fake.url, authorityHost: fake.url })
    const write = () => provider.applyChanges(disk(1), setting({ a: '1' }), undefined, options())
    const error = await write().catch((thrown: unknown) => thrown)
    await write()
    await provider.stop()

    expect(error).to.include({ kind: 'unavailable', outcomeUnknown: false })
    expect(fake.tagsOf(disk(1).id)).to.include({ a: '1' })
  })

  it('goes through the proxy that the environment names, but never for plain HTTP', async () => {
    await using fake = await AzureFake.start()
    addNumberedDisks(fake, 1)
    const asked: string[] = []
    const proxy = createServer()
    proxy.on('connect', (request, socket: Socket) => {
      asked.push(request.url ?? '')
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const proxyEnv = { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }

    const remote = await createAzureProvider({ ...deps, resourceManagerEndpoint: 'https://arm.test', proxyEnv })
    const local = await createAzureProvider({ ...deps, resourceManagerEndpoint: fake.url, proxyEnv })
    const outcomes = await outcomesOf([
      remote.applyChanges(disk(1), setting({ a: '1' }), undefined, options()),
      local.applyChanges(disk(1), setting({ a: '1' }), undefined, options()),
    ])
    await Promise.all([remote.stop(), local.stop()])
    proxy.closeAllConnections()
    await new Promise((resolve) => proxy.close(resolve))

    expect(outcomes).to.deep.equal(['unavailable', 'ok'])
    expect(asked).to.deep.equal(['arm.test:443'])
  })

  it('refuses to send tokens in the clear to another machine', async () => {
    const error = await createAzureProvider({ ...deps, resourceManagerEndpoint: 'http://arm.example.com' }).catch(
      (thrown: unknown) => thrown,
    )

    expect(String(error)).to.contain('azure.resourceManagerEndpoint')
  })
})
