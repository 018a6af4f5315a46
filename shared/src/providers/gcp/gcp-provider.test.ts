import { expect } from 'chai'
import { FakeClock, settle } from '../../../testing/fake-clock.ts'
import { addNumberedDisks, numberedDiskId } from '../../../testing/gcp/control.ts'
import { GcpFake, type GcpFakeOptions } from '../../../testing/gcp/gcp-fake.ts'
import type { DiskRef } from '../../claims/disk.ts'
import { systemClock } from '../../runtime/clock.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { noCloudMetrics, type CloudCall } from '../cloud-metrics.ts'
import { ProviderError } from '../provider-error.ts'
import type { CallOptions, Lane, ObservedTags } from '../provider.ts'
import type { RunningProvider } from '../running-provider.ts'
import type { Credentials } from './credentials.ts'
import { createGcpProvider, type GcpProviderDeps } from './gcp-provider.ts'

const credentials: Credentials = {
  headers: async () => new Headers({ authorization: 'Bearer token', 'x-goog-user-project': 'billed' }),
  projectId: async () => 'fake-project',
  refused() {},
}

const deps: GcpProviderDeps = {
  clock: systemClock,
  random: { next: () => 0.5 },
  logger: silentLogger,
  metrics: noCloudMetrics,
  budget: { profile: 'exclusive', share: 1 },
  credentials,
}

const options = (lane: Lane = 'fresh'): CallOptions => ({ lane, signal: new AbortController().signal })
const disk = (number: number): DiskRef => ({ id: numberedDiskId(number) })
const inZone = (name: string): DiskRef => ({ id: `projects/fake-project/zones/europe-west4-a/disks/${name}` })
const setting = (tags: Readonly<Record<string, string>>) => ({ set: new Map(Object.entries(tags)), remove: new Map() })

/** `ok` or the kind of the error, in order. */
async function outcomesOf(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const results = await Promise.allSettled(calls)
  return results.map((result) => {
    if (result.status === 'fulfilled') return 'ok'
    return result.reason instanceof ProviderError ? result.reason.kind : String(result.reason)
  })
}

describe('GcpProvider, with the SDK against a fake Compute Engine', () => {
  let fake: GcpFake
  let provider: RunningProvider

  async function start(fakeOptions: GcpFakeOptions = {}, more: Partial<GcpProviderDeps> = {}): Promise<void> {
    fake = await GcpFake.start(fakeOptions)
    provider = await createGcpProvider({ ...deps, endpoint: fake.url, ...more })
  }

  afterEach(async () => {
    await provider.stop()
    await fake.close()
  })

  async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    if (!(error instanceof ProviderError)) throw new Error('expected a ProviderError', { cause: error })
    return error
  }

  async function write(ref: DiskRef, tags: Readonly<Record<string, string>>, lane: Lane = 'fresh'): Promise<void> {
    await provider.applyChanges(ref, setting(tags), await provider.getTags(ref, options(lane)), options(lane))
  }

  describe('writing', () => {
    it('replaces the whole map, under the fingerprint that was read, in one call', async () => {
      await start()
      fake.addDisk(inZone('a').id, { labels: { foreign: 'keep', old: '1', other: '2' } })
      const before = fake.fingerprintOf(inZone('a').id)
      const observed = await provider.getTags(inZone('a'), options())

      await provider.applyChanges(
        inZone('a'),
        { set: new Map([['team', 'core']]), remove: new Map([['old', ['1']]]) },
        observed,
        options(),
      )

      const [call, ...others] = fake.calls('disks.setLabels')
      expect(others).to.deep.equal([])
      expect(call).to.include({
        method: 'POST',
        path: '/compute/v1/projects/fake-project/zones/europe-west4-a/disks/a/setLabels?',
        authorization: 'Bearer token',
      })
      expect(JSON.parse(call?.body ?? '')).to.deep.equal({
        labels: { foreign: 'keep', other: '2', team: 'core' },
        labelFingerprint: before,
      })
    })

    it('B6: goes to the region for a regional disk', async () => {
      await start()
      const regional = { id: 'projects/fake-project/regions/europe-west4/disks/r' }
      fake.addDisk(regional.id)

      await write(regional, { team: 'core' })

      expect(fake.labelsOf(regional.id)).to.deep.equal({ team: 'core' })
      expect(fake.counts()).to.have.all.keys('regionDisks.get', 'regionDisks.setLabels')
    })

    it('does not ask what became of the operation', async () => {
      await start()
      addNumberedDisks(fake, 6)

      await Promise.all([1, 2, 3, 4, 5, 6].map((number) => write(disk(number), { team: 'core' })))

      expect(Object.keys(fake.counts())).to.have.members([
        'disks.get',
        'disks.setLabels',
        'regionDisks.get',
        'regionDisks.setLabels',
      ])
    })

    it('makes no call for what is in force already', async () => {
      await start()
      fake.addDisk(inZone('a').id, { labels: { team: 'core', gone: 'x' } })
      const observed = await provider.getTags(inZone('a'), options())
      fake.resetCounts()

      await provider.applyChanges(
        inZone('a'),
        { set: new Map([['team', 'core']]), remove: new Map([['gone', ['y']]]) },
        observed,
        options(),
      )

      expect(fake.counts()).to.deep.equal({})
    })

    it('E6: says conflict where the labels changed since they were read, and succeeds with a fresh read', async () => {
      await start()
      fake.addDisk(inZone('a').id, { labels: { 'volume-publish-status-gke-io': 'x' } })
      const observed = await provider.getTags(inZone('a'), options())
      fake.setLabel(inZone('a').id, 'volume-publish-status-gke-io', 'y')

      const failure = await failureOf(provider.applyChanges(inZone('a'), setting({ a: '1' }), observed, options()))
      await write(inZone('a'), { a: '1' })

      expect(failure).to.include({ kind: 'conflict', code: 'conditionNotMet', outcomeUnknown: false })
      expect(fake.labelsOf(inZone('a').id)).to.deep.equal({ 'volume-publish-status-gke-io': 'y', a: '1' })
    })

    it('says conflict while an operation of before is under way', async () => {
      await start()
      fake.addDisk(inZone('a').id)
      fake.operationsLast(60_000)
      await write(inZone('a'), { a: '1' })

      const failure = await failureOf(write(inZone('a'), { a: '1' }))

      expect(failure).to.include({ kind: 'conflict', code: 'resourceNotReady' })
    })

    for (const [what, observed] of [
      ['nothing that was read', undefined],
      ['what was read without a fingerprint', { tags: new Map() }],
    ] as const satisfies readonly (readonly [string, ObservedTags | undefined])[]) {
      it(`says conflict, and makes no call, with ${what}`, async () => {
        await start()
        fake.addDisk(inZone('a').id)

        const failure = await failureOf(provider.applyChanges(inZone('a'), setting({ a: '1' }), observed, options()))

        expect(failure).to.include({ kind: 'conflict', outcomeUnknown: false })
        expect(fake.counts()).to.deep.equal({})
      })
    }

    it('says invalid where the accepted operation failed for its labels', async () => {
      await start()
      fake.addDisk(inZone('a').id)
      fake.inject({ kind: 'failed-operation', status: 400, code: 'INVALID_FIELD_VALUE' }, { operation: 'setLabels' })

      expect(await failureOf(write(inZone('a'), { a: '1' }))).to.include({
        kind: 'invalid',
        code: 'INVALID_FIELD_VALUE',
        outcomeUnknown: false,
      })
    })

    it('does not know the outcome of what was answered with rubbish', async () => {
      await start()
      fake.addDisk(inZone('a').id)
      fake.inject({ kind: 'garbage' }, { operation: 'setLabels' })

      expect(await failureOf(write(inZone('a'), { a: '1' }))).to.include({ kind: 'unavailable', outcomeUnknown: true })
      expect(fake.labelsOf(inZone('a').id)).to.deep.equal({ a: '1' })
    })

    it('gives up a call that hangs, with its outcome unknown, and lets others go on', async () => {
      await start({}, { callTimeoutMs: 300 })
      addNumberedDisks(fake, 2)
      fake.inject({ kind: 'hang' }, { ids: [disk(1).id], operation: 'setLabels' })

      const hanging = failureOf(write(disk(1), { a: '1' }))
      const call = await fake.nextCall('disks.setLabels')
      await write(disk(2), { b: '1' })

      expect(await hanging).to.include({ kind: 'unavailable', code: 'CallTimeout', outcomeUnknown: true })
      expect(fake.labelsOf(disk(2).id)).to.include({ b: '1' })
      // The connection is cut, which takes a moment to be seen on the other side.
      while (call.outcome === undefined) await settle()
      expect(call.outcome).to.equal('lost')
    })

    it('G10: writes a thousand disks side by side, within bounds', async () => {
      await start({ latencyMs: 20 }, { budget: { profile: 'exclusive', share: 1 } })
      addNumberedDisks(fake, 280)
      const observed = new Map<number, ObservedTags>()
      const numbers = Array.from({ length: 280 }, (_, i) => i + 1)
      const numberOf = new Map(numbers.map((number) => [disk(number).id, number]))
      for await (const found of provider.listTags(numbers.map(disk), options('bulk'))) {
        observed.set(numberOf.get(found.disk.id) ?? 0, found.observed)
      }
      fake.resetCounts()

      const outcomes = await outcomesOf(
        numbers.map((number) =>
          provider.applyChanges(disk(number), setting({ n: `${number}` }), observed.get(number), options()),
        ),
      )

      expect(new Set(outcomes)).to.deep.equal(new Set(['ok']))
      expect(fake.labelsOf(disk(77).id)).to.include({ n: '77', 'goog-gke-volume': '' })
      expect(fake.counts()).to.have.all.keys('disks.setLabels', 'regionDisks.setLabels')
      expect(fake.inFlightMax).to.be.within(8, 16)
    })
  })

  describe('pacing', () => {
    it('sends each call once: a throttle is answered by a slower pace, not by the SDK', async () => {
      await start()
      addNumberedDisks(fake, 1)
      const observed = await provider.getTags(disk(1), options())
      fake.inject({ kind: 'throttle' }, { times: 5 })

      const failure = await failureOf(provider.applyChanges(disk(1), setting({ a: '1' }), observed, options()))

      expect(failure).to.include({ kind: 'throttled', code: 'rateLimitExceeded' })
      expect(failure.retryAfterMs).to.be.within(1, 61_000)
      expect(fake.count('disks.setLabels')).to.deep.equal({ calls: 1, throttled: 1, failed: 0 })
      const [scope] = provider.status()
      expect(scope?.pausedForMs).to.be.greaterThan(0)
      expect(scope?.budgets.find(({ operation }) => operation === 'disks.setLabels')?.ratePerSecond).to.equal(9)
    })

    for (const fault of [
      { kind: 'error', status: 503, reason: 'backendError' },
      { kind: 'error', status: 401, reason: 'authError' },
      { kind: 'error', status: 403, reason: 'forbidden' },
      { kind: 'error', status: 429, reason: 'rateLimitExceeded' },
      { kind: 'drop' },
    ] as const) {
      it(`reads once also where the answer is ${fault.kind === 'drop' ? 'none' : fault.status}`, async () => {
        await start()
        addNumberedDisks(fake, 1)
        fake.inject(fault, { times: Infinity })

        await failureOf(provider.getTags(disk(1), options()))

        expect(fake.count('disks.get').calls).to.equal(1)
      })
    }

    it('says unavailable at once where nobody listens', async () => {
      await start()
      await fake.close()

      const failure = await failureOf(provider.getTags(disk(1), options()))

      expect(failure).to.include({ kind: 'unavailable', code: 'ECONNREFUSED', outcomeUnknown: false })
      fake = await GcpFake.start()
    })

    it('has a budget for each project, and what one is refused does not hold up the other', async () => {
      await start()
      const [here, there] = ['one', 'two'].map((project) => ({ id: `projects/p-${project}/zones/z-a/disks/d` })) as [
        DiskRef,
        DiskRef,
      ]
      for (const { id } of [here, there]) fake.addDisk(id)
      fake.inject({ kind: 'throttle', retryAfterSeconds: 30 }, { ids: [here.id] })

      const outcomes = await outcomesOf([provider.getTags(here, options()), provider.getTags(there, options())])

      expect(outcomes).to.deep.equal(['throttled', 'ok'])
      expect([provider.scopeOf(here), provider.scopeOf(there)]).to.deep.equal(['gcp/p-one', 'gcp/p-two'])
      expect(provider.status().map(({ pausedForMs, scope }) => [scope, pausedForMs > 0])).to.deep.equal([
        ['gcp/p-one', true],
        ['gcp/p-two', false],
      ])
    })

    it('goes slow after two disks of a project were denied, and only there', async () => {
      await start()
      const [first, second, third] = ['a', 'b', 'c'].map(inZone) as [DiskRef, DiskRef, DiskRef]
      for (const { id } of [first, second, third]) fake.addDisk(id)
      const observed = await provider.getTags(third, options())
      fake.deny([first.id, second.id])

      await outcomesOf([write(first, { a: '1' }), write(second, { a: '1' })])
      fake.resetCounts()
      const failure = await failureOf(provider.applyChanges(third, setting({ a: '1' }), observed, options()))

      expect(failure).to.include({ kind: 'denied', code: 'SlowLane' })
      expect(fake.counts()).to.deep.equal({})
      expect([provider.isSlow('gcp/fake-project'), provider.isSlow('gcp/another')]).to.deep.equal([true, false])
    })
  })

  describe('reading', () => {
    it('asks for labels and fingerprint only', async () => {
      await start()
      addNumberedDisks(fake, 3)

      await provider.getTags(disk(1), options())
      for await (const _ of provider.listTags([disk(1), disk(2)], options())) continue

      expect(fake.calls().map(({ fieldMask, operation }) => [operation, fieldMask])).to.deep.equal([
        ['disks.get', 'labels,labelFingerprint'],
        ['disks.list', 'items(name,labels,labelFingerprint),nextPageToken'],
      ])
    })

    it('gives a sweep the fingerprints, so that a write after it needs no read', async () => {
      await start()
      addNumberedDisks(fake, 6)
      const disks = [1, 2, 3, 4, 5, 6].map(disk)

      for await (const { disk, observed } of provider.listTags(disks, options('bulk'))) {
        await provider.applyChanges(disk, setting({ team: 'core' }), observed, options('bulk'))
      }

      expect(fake.counts()).to.have.all.keys(
        'disks.list',
        'disks.setLabels',
        'regionDisks.list',
        'regionDisks.setLabels',
      )
      for (const { id } of disks) expect(fake.labelsOf(id)).to.include({ team: 'core' })
    })

    it('sweeps 10,000 disks among 100,000 of another cluster in 25 calls', async function () {
      this.timeout(30_000)
      await start({}, { budget: { profile: 'exclusive', share: 1 } })
      addNumberedDisks(fake, 10_000)
      addNumberedDisks(fake, 100_000, { firstNumber: 1_000_000, cluster: 'another' })
      // The names of ours come first in the fake's order; a page of others before them makes it harder.
      for (let i = 0; i < 450; i++) fake.addDisk(inZone(`a-${i}`).id)

      let found = 0
      const disks = Array.from({ length: 10_000 }, (_, i) => disk(i + 1))
      for await (const { observed } of provider.listTags(disks, options('bulk'))) {
        found += Number(observed.tags.get('goog-k8s-cluster-name') === 'demo')
      }

      expect(found).to.equal(10_000)
      expect(fake.count('disks.list').calls + fake.count('regionDisks.list').calls).to.be.at.most(25)
      expect(Object.keys(fake.counts())).to.have.members(['disks.list', 'regionDisks.list'])
    })

    it('yields a disk under each id that it was asked for', async () => {
      await start()
      fake.addDisk(inZone('a').id, { labels: { n: '1' } })
      const nameless = { id: inZone('a').id.replace('fake-project', 'UNSPECIFIED') }

      const found: [string, string | undefined][] = []
      for await (const { disk, observed } of provider.listTags([inZone('a'), nameless], options())) {
        found.push([disk.id, observed.tags.get('n')])
      }

      expect(found).to.have.deep.members([
        [inZone('a').id, '1'],
        [nameless.id, '1'],
      ])
    })

    it('is stopped in the middle of a sweep', async () => {
      await start()
      addNumberedDisks(fake, 3000)
      const sweep = provider.listTags(
        Array.from({ length: 3000 }, (_, i) => disk(i + 1)),
        options('bulk'),
      )
      const rest = (async () => {
        for await (const _ of sweep) await provider.stop()
      })()

      expect(await failureOf(rest)).to.include({ kind: 'unavailable', outcomeUnknown: false })
      expect(fake.count('disks.list').calls).to.equal(1)
    })
  })

  describe('addressing', () => {
    it('refuses what is no disk of Google without asking', async () => {
      await start()
      const foreign = [
        'vol-0123456789abcdef0',
        'projects/p/zones/multi-zone/disks/d',
        'projects/p/zones/z/instances/i',
        '',
      ]

      const outcomes = await outcomesOf(
        foreign.flatMap((id) => [
          provider.getTags({ id }, options()),
          provider.applyChanges({ id }, setting({ a: '1' }), { tags: new Map() }, options()),
        ]),
      )
      for await (const _ of provider.listTags(
        foreign.map((id) => ({ id })),
        options(),
      )) {
        expect.fail('there is nothing to find')
      }

      expect(new Set(outcomes)).to.deep.equal(new Set(['invalid']))
      expect(fake.counts()).to.deep.equal({})
      expect(provider.scopeOf({ id: 'vol-1' })).to.equal('gcp/UNSPECIFIED')
    })

    const nameless: DiskRef = { id: 'projects/UNSPECIFIED/zones/europe-west4-a/disks/d' }

    it('takes the project of the configuration where the volume names none', async () => {
      await start({}, { project: 'configured' })
      fake.addDisk('projects/configured/zones/europe-west4-a/disks/d', { labels: { a: '1' } })

      expect((await provider.getTags(nameless, options())).tags.get('a')).to.equal('1')
      expect(provider.scopeOf(nameless)).to.equal('gcp/configured')
    })

    it('else asks where it runs, once, and only then', async () => {
      let asked = 0
      const projectId = async () => {
        asked++
        return 'fake-project'
      }
      await start({}, { credentials: { ...credentials, projectId } })
      fake.addDisk(inZone('d').id)
      await provider.getTags(inZone('d'), options())
      const before = asked
      await provider.getTags(nameless, options())
      await write(nameless, { a: '1' })

      expect([before, asked]).to.deep.equal([0, 1])
      expect(provider.scopeOf(nameless)).to.equal('gcp/fake-project')
      expect(fake.labelsOf(inZone('d').id)).to.deep.equal({ a: '1' })
    })
  })

  it('counts each call under one name for zones and regions', async () => {
    const calls: CloudCall[] = []
    await start({}, { metrics: { ...noCloudMetrics, called: (call) => calls.push(call) } })
    addNumberedDisks(fake, 3)

    await write(disk(2), { a: '1' })
    await write(disk(3), { a: '1' })
    await failureOf(provider.getTags(disk(9), options()))

    expect(calls.map(({ operation, outcome, provider }) => `${provider} ${operation} ${outcome}`)).to.deep.equal([
      'gcp disks.get ok',
      'gcp disks.setLabels ok',
      'gcp disks.get ok',
      'gcp disks.setLabels ok',
      'gcp disks.get not-found',
    ])
  })

  it('leaves no timer when it has stopped', async () => {
    const clock = new FakeClock()
    await start({}, { clock })
    addNumberedDisks(fake, 2)

    await write(disk(1), { a: '1' })
    await provider.stop()

    expect(clock.pendingTimers).to.equal(0)
    expect(await failureOf(provider.getTags(disk(1), options()))).to.include({ kind: 'unavailable' })
  })
})

describe('gcp.endpoint', () => {
  for (const endpoint of ['not a URL', 'ftp://127.0.0.1', 'https://compute.example.com/compute/v1']) {
    it(`is refused when it is ${endpoint}`, async () => {
      const error = await createGcpProvider({ ...deps, endpoint }).catch((thrown: unknown) => thrown)

      expect(String(error)).to.contain('gcp.endpoint must be http(s)://host[:port]')
    })
  }

  it('is refused when it would send tokens in the clear', async () => {
    const error = await createGcpProvider({ ...deps, endpoint: 'http://10.0.0.1' }).catch((thrown: unknown) => thrown)

    expect(String(error)).to.contain('must be https, or on loopback')
  })

  for (const endpoint of [
    'http://[::1]:9',
    'http://localhost',
    'https://compute.example.com',
    'https://10.0.0.1:8443/',
  ]) {
    it(`may be ${endpoint}`, async () => {
      const provider = await createGcpProvider({ ...deps, endpoint })

      expect(provider.name).to.equal('gcp')
      await provider.stop()
    })
  }
})
