import { expect } from 'chai'
import { FakeClock } from '../../testing/fake-clock.ts'
import { ProviderError } from './provider-error.ts'
import { SlowLane } from './slow-lane.ts'

const write = 'CreateTags'
const probeEveryMs = 300_000

function start() {
  const clock = new FakeClock()
  return { clock, lane: new SlowLane({ clock, random: { next: () => 0.5 } }) }
}

function startSlow() {
  const started = start()
  started.lane.deniedSingly(write, 'vol-1')
  started.lane.deniedSingly(write, 'vol-2')
  return started
}

function refusalOf(admission: 'open' | 'probe' | ProviderError): ProviderError {
  if (admission instanceof ProviderError) return admission
  throw new Error(`expected a refusal, and it was ${admission}`)
}

describe('SlowLane', () => {
  it('stays open while only one disk is denied, however often', () => {
    const { lane } = start()

    for (let i = 0; i < 10; i++) lane.deniedSingly(write, 'vol-1')

    expect(lane.isSlow()).to.equal(false)
    expect(lane.admit(write)).to.equal('open')
  })

  it('stays open where a success lies between two denials', () => {
    const { lane } = start()

    lane.deniedSingly(write, 'vol-1')
    lane.succeeded(write)
    lane.deniedSingly(write, 'vol-2')

    expect(lane.isSlow()).to.equal(false)
  })

  it('goes slow when two different disks were denied, and says when to come back', () => {
    const { lane } = startSlow()

    const refusal = refusalOf(lane.admit(write))

    expect(lane.isSlow()).to.equal(true)
    expect(refusal.kind).to.equal('denied')
    expect(refusal.retryAfterMs).to.equal(probeEveryMs)
    expect(refusal.outcomeUnknown).to.equal(false)
    expect(lane.refusalFor(write)?.kind).to.equal('denied')
  })

  it('concerns one operation only: whoever may not write may still read', () => {
    const { lane } = startSlow()

    lane.succeeded('DescribeVolumes')

    expect(lane.admit('DescribeVolumes')).to.equal('open')
    expect(lane.isSlow(write)).to.equal(true)
    expect(lane.isSlow('DeleteTags')).to.equal(false)
  })

  it('lets one probe through every five minutes', async () => {
    const { clock, lane } = startSlow()

    await clock.step(probeEveryMs - 1)
    expect(lane.admit(write)).to.be.instanceOf(ProviderError)
    await clock.step(1)
    expect(lane.admit(write)).to.equal('probe')
    expect(lane.admit(write)).to.be.instanceOf(ProviderError)
    lane.probeEnded(write)
    await clock.step(probeEveryMs)
    expect(lane.admit(write)).to.equal('probe')
  })

  it('asks the others to come back soon while a probe is out', async () => {
    const { clock, lane } = startSlow()
    await clock.step(probeEveryMs)
    lane.admit(write)

    expect(refusalOf(lane.admit(write)).retryAfterMs).to.equal(15_000)
    lane.probeEnded(write)
    expect(refusalOf(lane.admit(write)).retryAfterMs).to.equal(probeEveryMs)
  })

  it('opens at the first success', () => {
    const { lane } = startSlow()

    lane.succeeded(write)

    expect(lane.isSlow()).to.equal(false)
    expect(lane.admit(write)).to.equal('open')
    expect(lane.refusalFor(write)).to.equal(undefined)
  })
})
