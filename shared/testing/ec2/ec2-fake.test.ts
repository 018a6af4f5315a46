import { CreateTagsCommand, DescribeVolumesCommand, type EC2Client } from '@aws-sdk/client-ec2'
import { expect } from 'chai'
import { FakeClock, settle } from '../fake-clock.ts'
import { Ec2Fake } from './ec2-fake.ts'
import { ec2Client, refusalOf } from './sdk.ts'

describe('the EC2 fake', () => {
  let ec2: Ec2Fake
  let client: EC2Client
  let clock: FakeClock

  beforeEach(async () => {
    clock = new FakeClock()
    ec2 = await Ec2Fake.start({ clock })
    client = ec2Client(ec2)
    ec2.addVolume('vol-1')
    ec2.addVolume('vol-2')
  })

  afterEach(async () => {
    client.destroy()
    await ec2.close()
    expect(clock.pendingTimers).to.equal(0)
  })

  const create = (id: string, abortSignal = new AbortController().signal) =>
    client.send(new CreateTagsCommand({ Resources: [id], Tags: [{ Key: 'a', Value: '1' }] }), { abortSignal })
  const describeAll = () => client.send(new DescribeVolumesCommand({}))
  const tagged = (id: string) => 'a' in ec2.tagsOf(id)

  describe('under a fault', () => {
    it('throttles, with the wait that was asked for', async () => {
      ec2.inject({ kind: 'throttle', retryAfterSeconds: 7 })
      const answer = await fetch(ec2.url, { method: 'POST', body: 'Action=DescribeVolumes' })
      const refused = refusalOf(describeAll())

      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '7'])
      expect(await answer.text()).to.include('<Code>RequestLimitExceeded</Code>')
      expect(await refused).to.equal('it was not refused')
    })

    it('hits as many matching calls as it was told and no others', async () => {
      const fault = ec2.inject(
        { kind: 'error', code: 'InternalError', status: 500, message: 'oh' },
        { action: 'CreateTags', ids: ['vol-2'], times: 2 },
      )

      const outcomes = []
      for (const id of ['vol-1', 'vol-2', 'vol-2', 'vol-2']) outcomes.push(await refusalOf(create(id)))
      await describeAll()

      const refused = '500 InternalError: oh'
      expect(outcomes).to.deep.equal(['it was not refused', refused, refused, 'it was not refused'])
      expect(fault.hits).to.equal(2)
    })

    it('lasts until it is cleared', async () => {
      const fault = ec2.inject({ kind: 'throttle' }, { times: Infinity })

      const during = [await refusalOf(create('vol-1')), await refusalOf(create('vol-1'))]
      fault.clear()
      await create('vol-1')

      expect(during.every((refusal) => refusal.startsWith('503 RequestLimitExceeded'))).to.equal(true)
    })

    it('hangs with nothing done until released', async () => {
      ec2.inject({ kind: 'hang' })
      const call = ec2.nextCall()
      const write = create('vol-1')
      await call
      await settle()
      const meanwhile = tagged('vol-1')

      ec2.release()
      await write

      expect([meanwhile, tagged('vol-1')]).to.deep.equal([false, true])
    })

    it('never does what hung when the client gave up', async () => {
      ec2.inject({ kind: 'hang' })
      const call = ec2.nextCall()
      const givingUp = new AbortController()
      const write = refusalOf(create('vol-1', givingUp.signal))
      await call

      givingUp.abort()
      await write
      await create('vol-2')
      ec2.release()

      expect([tagged('vol-1'), tagged('vol-2')]).to.deep.equal([false, true])
    })

    it('cuts the connection before anything was done', async () => {
      ec2.inject({ kind: 'drop' })

      expect(await refusalOf(create('vol-1'))).to.match(/^no answer/)
      expect(tagged('vol-1')).to.equal(false)
    })

    it('loses the answer of a write that took effect', async () => {
      ec2.inject({ kind: 'lost-answer' })

      expect(await refusalOf(create('vol-1'))).to.match(/^no answer/)
      expect(tagged('vol-1')).to.equal(true)
      expect(ec2.count('CreateTags')).to.include({ calls: 1, failed: 1 })
    })

    it('keeps silent about a write that took effect', async () => {
      ec2.inject({ kind: 'lost-answer', how: 'hang' })
      const call = ec2.nextCall()
      const givingUp = new AbortController()
      const write = refusalOf(create('vol-1', givingUp.signal))
      await call
      await settle()

      givingUp.abort()

      expect(await write).to.match(/^no answer AbortError/)
      expect(tagged('vol-1')).to.equal(true)
    })

    it('lets a write land late, after its client has gone', async () => {
      ec2.inject({ kind: 'late-write', landsAfterMs: 30_000 })
      const call = ec2.nextCall()
      const givingUp = new AbortController()
      const write = refusalOf(create('vol-1', givingUp.signal))
      await call
      givingUp.abort()
      await write
      await clock.step(29_999)
      const before = tagged('vol-1')

      await clock.step(1)
      await ec2.landed()

      expect([before, tagged('vol-1')]).to.deep.equal([false, true])
    })

    it('answers slowly', async () => {
      ec2.inject({ kind: 'slow', byMs: 5_000 })
      let answered = false
      const call = ec2.nextCall()
      const write = create('vol-1').then(() => (answered = true))
      await call
      await clock.step(4_999)
      const before = answered || tagged('vol-1')

      await clock.step(1)
      await write

      expect(before).to.equal(false)
    })

    it('answers garbage to what it did', async () => {
      ec2.inject({ kind: 'garbage' }, { action: 'DescribeVolumes' })

      const answer = await fetch(ec2.url, { method: 'POST', body: 'Action=DescribeVolumes' })

      expect([answer.status, await answer.text()]).to.deep.equal([200, '<html><body>Service is warming up'])
    })

    it('closes although calls hang', async () => {
      ec2.inject({ kind: 'hang' })
      const call = ec2.nextCall()
      const write = refusalOf(create('vol-1'))
      await call

      await ec2.close()

      expect(await write).to.match(/^no answer/)
      ec2 = await Ec2Fake.start({ clock })
    })
  })

  describe('enforcing buckets', () => {
    it('lets a burst of 100 writes through and then 10 a second, reads apart', async () => {
      ec2.enforceBuckets(true)
      const burst = async (count: number) => {
        const outcomes = await Promise.all(Array.from({ length: count }, () => refusalOf(create('vol-1'))))
        return outcomes.filter((outcome) => outcome === 'it was not refused').length
      }

      const first = await burst(110)
      await describeAll()
      await clock.step(1_000)
      const second = await burst(20)

      expect([first, second]).to.deep.equal([100, 10])
      expect(ec2.count('CreateTags')).to.deep.equal({ calls: 130, disks: 130, throttled: 20, failed: 0 })
    })

    it('gives less to a DescribeVolumes with neither filter nor pages', async () => {
      ec2.enforceBuckets(true)
      const outcomes = await Promise.all(Array.from({ length: 60 }, () => refusalOf(describeAll())))
      const paged = await refusalOf(client.send(new DescribeVolumesCommand({ MaxResults: 5 })))

      expect(outcomes.filter((outcome) => outcome === 'it was not refused')).to.have.length(50)
      expect(paged).to.equal('it was not refused')
    })
  })

  describe('recording', () => {
    it('remembers the last calls with ids, parameters and outcome', async () => {
      await create('vol-1')
      await refusalOf(create('vol-9'))
      await client.send(new DescribeVolumesCommand({ Filters: [{ Name: 'volume-id', Values: ['vol-2'] }] }))

      expect(ec2.calls().map(({ action, ids, outcome }) => [action, ids, outcome])).to.deep.equal([
        ['CreateTags', ['vol-1'], 'ok'],
        ['CreateTags', ['vol-9'], 'InvalidVolume.NotFound'],
        ['DescribeVolumes', ['vol-2'], 'ok'],
      ])
      expect(ec2.calls('CreateTags')[0]?.parameters).to.include({ 'Tag.1.Key': 'a', 'Tag.1.Value': '1' })
      expect(ec2.counts()['CreateTags']).to.deep.equal({ calls: 2, disks: 2, throttled: 0, failed: 1 })
    })

    it('forgets old calls and still counts them', async () => {
      await using small = await Ec2Fake.start({ logLimit: 3 })
      const smallClient = ec2Client(small)
      for (let i = 0; i < 10; i++) await smallClient.send(new DescribeVolumesCommand({}))
      smallClient.destroy()

      expect(small.calls()).to.have.length(3)
      expect(small.count('DescribeVolumes').calls).to.equal(10)
    })

    it('lets a listener come between arrival and effect', async () => {
      ec2.onCall = async ({ action }) => {
        await settle()
        if (action === 'CreateTags') ec2.setTag('vol-1', 'a', 'by hand')
      }

      await create('vol-1')

      expect(ec2.tagsOf('vol-1')).to.deep.equal({ a: '1' })
    })

    it('knows how many calls were in flight at once', async () => {
      ec2.inject({ kind: 'hang' }, { times: 3 })
      const writes = [create('vol-1'), create('vol-1'), create('vol-1')]
      while (ec2.inFlight < 3) await settle()

      ec2.release()
      await Promise.all(writes)

      expect([ec2.inFlight, ec2.inFlightMax]).to.deep.equal([0, 3])
    })
  })

  it('takes its time by the clock, and writes take effect at the end of it', async () => {
    ec2.latencyMs = 100
    const call = ec2.nextCall()
    const write = create('vol-1')
    await call
    await clock.step(99)
    const before = tagged('vol-1')

    await clock.step(1)
    await write

    expect([before, tagged('vol-1')]).to.deep.equal([false, true])
  })

  it('does not tag a young volume', async () => {
    ec2.addVolume('vol-young', { visibleAfterMs: 1_000 })

    const early = await refusalOf(create('vol-young'))
    await clock.step(1_000)
    await create('vol-young')

    expect(early).to.match(/^400 InvalidVolume.NotFound/)
    expect(tagged('vol-young')).to.equal(true)
  })

  it('lets every well-formed id exist when it was told so', async () => {
    ec2.adoptUnknownVolumes(true)

    await create('vol-777')

    expect(tagged('vol-777')).to.equal(true)
    expect(await refusalOf(create('fs-777'))).to.match(/^400 InvalidID/)
  })

  it('knows no other action', async () => {
    const answer = await fetch(ec2.url, { method: 'POST', body: 'Action=RunInstances&Version=2016-11-15' })

    expect(answer.status).to.equal(400)
    expect(await answer.text()).to.include('<Code>InvalidAction</Code>')
  })
})
