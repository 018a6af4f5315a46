import { expect } from 'chai'
import { FakeClock } from '../../testing/fake-clock.ts'
import { CallSlots } from './call-slots.ts'

describe('CallSlots', () => {
  it('is free until four calls are in flight, and again when one ends', () => {
    const slots = new CallSlots({ clock: new FakeClock() })
    const holds = Array.from({ length: 4 }, () => slots.take('fresh', 1))

    expect(slots.isFree('fresh')).to.equal(false)
    holds[2]?.release()
    expect(slots.isFree('fresh')).to.equal(true)
  })

  it('keeps the last place for fresh changes, also from a unit of many calls', () => {
    const slots = new CallSlots({ clock: new FakeClock() })

    slots.take('bulk', 20)

    expect(slots.isFree('bulk')).to.equal(false)
    expect(slots.isFree('fresh')).to.equal(true)
  })

  it('no longer counts what has taken two seconds', async () => {
    const clock = new FakeClock()
    const slots = new CallSlots({ clock, limit: 1 })
    slots.take('fresh', 1)

    expect(slots.msUntilNextForgotten()).to.equal(2000)
    await clock.step(1999)
    expect(slots.isFree('fresh')).to.equal(false)
    await clock.step(1)

    expect(slots.isFree('fresh')).to.equal(true)
    expect(slots.msUntilNextForgotten()).to.equal(undefined)
  })
})
