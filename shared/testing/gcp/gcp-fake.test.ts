import { expect } from 'chai'
import { FakeClock, settle } from '../fake-clock.ts'
import { GcpFake } from './gcp-fake.ts'
import { plainClient, type PlainClient } from './plain-client.ts'

const [one, two] = ['projects/p/zones/z-a/disks/one', 'projects/p/regions/z/disks/two'] as [string, string]

describe('the Compute Engine fake', () => {
  let fake: GcpFake
  let client: PlainClient
  let clock: FakeClock

  beforeEach(async () => {
    clock = new FakeClock()
    fake = await GcpFake.start({ clock })
    client = plainClient(fake)
    fake.addDisk(one)
    fake.addDisk(two)
  })

  afterEach(async () => {
    await fake.close()
    expect(clock.pendingTimers).to.equal(0)
  })

  const write = (id: string, signal?: AbortSignal) =>
    client
      .post(`${id}/setLabels`, { labels: { a: '1' }, labelFingerprint: fake.fingerprintOf(id) }, signal)
      .then(({ reason }) => reason ?? 'ok')
      .catch(() => 'no answer')
  const tagged = (id: string) => 'a' in fake.labelsOf(id)

  describe('under a fault', () => {
    it('throttles with 403, and with the wait that was asked for', async () => {
      fake.inject({ kind: 'throttle', retryAfterSeconds: 7 })

      const { body, headers, status } = await client.get(one)

      expect([status, headers.get('retry-after')]).to.deep.equal([403, '7'])
      expect(body.error?.errors[0]).to.include({ reason: 'rateLimitExceeded', domain: 'usageLimits' })
      expect((await client.get(one)).status).to.equal(200)
    })

    it('refuses with any status and reason', async () => {
      fake.inject({ kind: 'error', status: 503, reason: 'backendError', message: 'oh' })

      expect((await client.get(one)).body.error).to.deep.include({ code: 503, message: 'oh' })
    })

    it('says why in details too, or in the old way only', async () => {
      const modern = (await client.setLabels(one, { A: 'x' })).body.error
      fake.errorDetails = false
      const old = (await client.setLabels(one, { A: 'x' })).body.error

      expect(modern?.details).to.deep.equal([
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'INVALID_FIELD_VALUE',
          domain: 'compute.googleapis.com',
        },
      ])
      expect(old).not.to.have.property('details')
      expect(old?.errors).to.deep.equal(modern?.errors)
    })

    it('hits as many matching calls as it was told and no others', async () => {
      const fault = fake.inject(
        { kind: 'error', status: 500, reason: 'oh' },
        { operation: 'setLabels', ids: [two], times: 2 },
      )

      const outcomes = []
      for (const id of [one, two, two, two]) outcomes.push(await write(id))
      await client.get(two)

      expect(outcomes).to.deep.equal(['ok', 'oh', 'oh', 'ok'])
      expect(fault.hits).to.equal(2)
    })

    it('lasts until it is cleared', async () => {
      const fault = fake.inject({ kind: 'throttle' }, { operation: 'disks.setLabels', times: Infinity })

      const during = [await write(one), await write(one), await write(two)]
      fault.clear()

      expect(during).to.deep.equal(['rateLimitExceeded', 'rateLimitExceeded', 'ok'])
      expect(await write(one)).to.equal('ok')
    })

    it('hangs with nothing done until released', async () => {
      fake.inject({ kind: 'hang' })
      const call = fake.nextCall()
      const writing = write(one)
      await call
      await settle()
      const meanwhile = tagged(one)

      fake.release()

      expect([meanwhile, await writing, tagged(one)]).to.deep.equal([false, 'ok', true])
    })

    it('never does what hung when the client gave up', async () => {
      fake.inject({ kind: 'hang' })
      const call = fake.nextCall()
      const givingUp = new AbortController()
      const writing = write(one, givingUp.signal)
      await call

      givingUp.abort()
      await writing
      await write(two)
      fake.release()

      expect([tagged(one), tagged(two)]).to.deep.equal([false, true])
    })

    it('cuts the connection before anything was done', async () => {
      fake.inject({ kind: 'drop' })

      expect([await write(one), tagged(one)]).to.deep.equal(['no answer', false])
    })

    it('loses the answer of a write that took effect', async () => {
      fake.inject({ kind: 'lost-answer' })

      expect([await write(one), tagged(one)]).to.deep.equal(['no answer', true])
      expect(fake.count('disks.setLabels')).to.include({ calls: 1, failed: 1 })
    })

    it('keeps silent about a write that took effect', async () => {
      fake.inject({ kind: 'lost-answer', how: 'hang' })
      const call = fake.nextCall()
      const givingUp = new AbortController()
      const writing = write(one, givingUp.signal)
      await call
      await settle()

      givingUp.abort()

      expect([await writing, tagged(one)]).to.deep.equal(['no answer', true])
    })

    it('lets a write land late, after its client has gone', async () => {
      fake.inject({ kind: 'late-write', landsAfterMs: 30_000 })
      const call = fake.nextCall()
      const givingUp = new AbortController()
      const writing = write(one, givingUp.signal)
      await call
      givingUp.abort()
      await writing
      await clock.step(29_999)
      const before = tagged(one)

      await clock.step(1)
      await fake.landed()

      expect([before, tagged(one)]).to.deep.equal([false, true])
    })

    it('answers slowly', async () => {
      fake.inject({ kind: 'slow', byMs: 5000 })
      const call = fake.nextCall()
      const writing = write(one)
      await call
      await clock.step(4999)
      const before = tagged(one)

      await clock.step(1)

      expect([before, await writing, tagged(one)]).to.deep.equal([false, 'ok', true])
    })

    it('answers garbage to what it did', async () => {
      fake.inject({ kind: 'garbage' })

      expect([await write(one), tagged(one)]).to.deep.equal(['no answer', true])
    })

    it('accepts a write whose operation has failed', async () => {
      fake.inject({ kind: 'failed-operation', status: 400, code: 'INVALID_FIELD_VALUE' })

      const { body } = await client.setLabels(one, { a: '1' })

      expect(body).to.deep.include({ status: 'DONE', httpErrorStatusCode: 400 })
      expect(tagged(one)).to.equal(false)
    })

    it('closes although calls hang', async () => {
      fake.inject({ kind: 'hang' })
      const call = fake.nextCall()
      const writing = write(one)
      await call

      await fake.close()

      expect(await writing).to.equal('no answer')
      fake = await GcpFake.start({ clock })
    })
  })

  describe('recording', () => {
    it('remembers the last calls with what they asked for and what came of it', async () => {
      await write(one)
      await client.get('projects/p/zones/z-a/disks/missing')
      await client.get('projects/p/regions/z/disks?maxResults=1', { 'X-Goog-FieldMask': 'kind' })

      expect(fake.calls().map(({ disk, operation, outcome }) => [operation, disk, outcome])).to.deep.equal([
        ['disks.setLabels', one, 'ok'],
        ['disks.get', 'projects/p/zones/z-a/disks/missing', 'notFound'],
        ['regionDisks.list', undefined, 'ok'],
      ])
      expect(fake.calls('regionDisks.list')[0]).to.include({
        path: '/compute/v1/projects/p/regions/z/disks?maxResults=1',
        fieldMask: 'kind',
      })
      expect(JSON.parse(fake.calls()[0]?.body ?? '')).to.deep.include({ labels: { a: '1' } })
    })

    it('forgets old calls and still counts them', async () => {
      await using small = await GcpFake.start({ logLimit: 3 })
      small.addDisk(one)
      for (let i = 0; i < 10; i++) await plainClient(small).get(one)

      expect(small.calls()).to.have.length(3)
      expect(small.count('disks.get').calls).to.equal(10)
    })

    it('lets a listener come between arrival and effect', async () => {
      fake.onCall = async ({ operation }) => {
        await settle()
        if (operation === 'disks.setLabels') fake.setLabel(one, 'a', 'by hand')
      }

      expect(await write(one)).to.equal('conditionNotMet')
    })

    it('knows how many calls were in flight at once', async () => {
      fake.inject({ kind: 'hang' }, { times: 3 })
      const reads = [client.get(one), client.get(one), client.get(one)]
      while (fake.inFlight < 3) await settle()

      fake.release()
      await Promise.all(reads)

      expect([fake.inFlight, fake.inFlightMax]).to.deep.equal([0, 3])
    })
  })

  it('takes its time by the clock, and writes take effect at the end of it', async () => {
    fake.latencyMs = 100
    const call = fake.nextCall()
    const writing = write(one)
    await call
    await clock.step(99)
    const before = tagged(one)

    await clock.step(1)

    expect([before, await writing, tagged(one)]).to.deep.equal([false, 'ok', true])
  })

  it('wants a token that it handed out and that has not expired, when told so', async () => {
    await using strict = await GcpFake.start({ clock, requireToken: true })
    strict.addDisk(one)
    const { get } = plainClient(strict)
    const token = strict.identity.issue()

    const statuses = [
      (await get(one)).status,
      (await get(one, { authorization: 'Bearer other' })).status,
      (await get(one, { authorization: `Bearer ${token}` })).status,
    ]
    await clock.step(3_600_001)
    statuses.push((await get(one, { authorization: `Bearer ${token}` })).status)

    expect(statuses).to.deep.equal([401, 401, 200, 401])
  })

  it('is a metadata server to those who know how to ask', async () => {
    const ask = async (path: string, headers: Readonly<Record<string, string>> = { 'Metadata-Flavor': 'Google' }) => {
      const response = await fetch(`${fake.url}/computeMetadata/v1/${path}`, { headers })
      return [response.status, response.headers.get('metadata-flavor'), await response.text()]
    }

    expect(await ask('project/project-id')).to.deep.equal([200, 'Google', 'fake-project'])
    expect((await ask('project/project-id', {}))[0]).to.equal(403)
    expect((await ask('unknown'))[0]).to.equal(404)
    fake.identity.metadataIsDown = true
    expect((await ask('project/project-id'))[0]).to.equal(503)
  })

  it('says 404 to what it does not serve', async () => {
    for (const [path, method] of [
      ['/', 'GET'],
      [`/compute/v1/${one}`, 'DELETE'],
      ['/compute/v1/projects/p/zones/z-a/instances/i', 'GET'],
    ] as const) {
      expect((await fetch(`${fake.url}${path}`, { method })).status).to.equal(404)
    }
  })
})
