import { expect } from 'chai'
import { FakeClock } from '../../testing/fake-clock.ts'
import { Allowance } from './allowance.ts'

describe('Allowance', () => {
  it('lets each key take its burst, then its rate, and no key the share of another', async () => {
    const clock = new FakeClock()
    const allowance = new Allowance<string>({ clock, burst: 2, perSecond: 1 })

    expect([1, 2, 3].map(() => allowance.take('a'))).to.deep.equal([true, true, false])
    expect(allowance.take('b')).to.equal(true)
    await clock.step(1000)
    expect([1, 2].map(() => allowance.take('a'))).to.deep.equal([true, false])
  })

  it('never saves up more than its burst', async () => {
    const clock = new FakeClock()
    const allowance = new Allowance<string>({ clock, burst: 2, perSecond: 1 })
    allowance.take('a')
    await clock.step(3_600_000)

    expect([1, 2, 3].map(() => allowance.take('a'))).to.deep.equal([true, true, false])
  })
})
