import { expect } from 'chai'
import { FakeClock, settle } from '../../testing/fake-clock.ts'
import { AccountBudget } from './account-budget.ts'
import type { OpenPot, TokenPot } from './token-pot.ts'

const rates = { Read: { burst: 40, perSecond: 8 }, Write: { burst: 20, perSecond: 2 } }

function startWith(share = 1) {
  const clock = new FakeClock()
  return { clock, budget: new AccountBudget({ clock, rates, share }) }
}

const calls = (count: number, operation = 'Write') => new Map([[operation, count]])

describe('AccountBudget', () => {
  it('counts each operation by itself', () => {
    const { budget } = startWith()

    expect(budget.tryTake(calls(20), 'fresh')).to.equal(0)

    expect(budget.tryTake(calls(1), 'fresh')).to.equal(500)
    expect(budget.tryTake(calls(1, 'Read'), 'fresh')).to.equal(0)
  })

  it('takes all that is needed or nothing', () => {
    const { budget } = startWith()
    budget.tryTake(calls(20), 'fresh')

    const waitMs = budget.tryTake(new Map([...calls(2, 'Read'), ...calls(1)]), 'fresh')

    expect(waitMs).to.equal(500)
    expect(budget.status().map(({ tokens }) => tokens)).to.deep.equal([40, 0])
  })

  it('uses only this process’s share', () => {
    const { budget } = startWith(0.25)

    expect(budget.tryTake(calls(5), 'fresh')).to.equal(0)
    expect(budget.tryTake(calls(1), 'fresh')).to.equal(2000)
  })

  for (const share of [0, -1, 1.5, Number.NaN]) {
    it(`refuses a share of ${share}`, () => {
      expect(() => startWith(share)).to.throw(RangeError)
    })
  }

  it('keeps the last quarter of the burst from bulk', () => {
    const { budget } = startWith()

    expect(budget.tryTake(calls(15), 'bulk')).to.equal(0)

    expect(budget.tryTake(calls(1), 'bulk')).to.equal(500)
    expect(budget.tryTake(calls(5), 'fresh')).to.equal(0)
  })

  for (const burst of [1, 1.4, 2, 3, 4]) {
    it(`lets bulk have its turn with a burst of ${burst}`, () => {
      const budget = new AccountBudget({
        clock: new FakeClock(),
        rates: { Write: { burst, perSecond: 1 } },
        share: 1,
      })

      expect(budget.tryTake(calls(1), 'bulk')).to.equal(0)
    })
  }

  it('G1: pauses every operation for as long as the cloud asked', async () => {
    const { budget, clock } = startWith()

    budget.throttled('Write', { sentAtMs: 0, retryAfterMs: 7000 })

    expect(budget.pausedForMs).to.equal(7000)
    expect(budget.tryTake(calls(1, 'Read'), 'fresh')).to.equal(7000)
    await clock.step(7000)
    expect(budget.tryTake(calls(1, 'Read'), 'fresh')).to.equal(0)
  })

  it('keeps the longer of two pauses, and none for ever', () => {
    const { budget } = startWith()

    budget.throttled('Write', { sentAtMs: 0, retryAfterMs: 1e12 })
    budget.throttled('Write', { sentAtMs: 0, retryAfterMs: 10 })

    expect(budget.pausedForMs).to.equal(3_600_000)
  })

  it('slows only the throttled operation down', () => {
    const { budget } = startWith()

    budget.throttled('Write', { sentAtMs: 0, retryAfterMs: undefined })

    expect(budget.pausedForMs).to.equal(0)
    expect(budget.status().map(({ ratePerSecond }) => ratePerSecond)).to.deep.equal([8, 1])
  })

  describe('take', () => {
    const signal = new AbortController().signal

    it('waits for its turn', async () => {
      const { budget, clock } = startWith()
      budget.tryTake(calls(20), 'fresh')
      let taken: boolean | undefined
      const taking = budget.take('Write', { lane: 'fresh', signal }).then((mine) => (taken = mine))

      await clock.step(499)
      expect(taken).to.equal(undefined)
      await clock.step(1)

      expect(await taking).to.equal(true)
      expect(clock.pendingTimers).to.equal(0)
    })

    it('does not wait where the turn would come too late', async () => {
      const { budget, clock } = startWith()
      budget.tryTake(calls(20), 'fresh')

      expect(await budget.take('Write', { lane: 'fresh', signal, untilMs: 499 })).to.equal(false)
      expect(clock.pendingTimers).to.equal(0)
    })

    it('ends without a token, and without a timer, when aborted', async () => {
      const { budget, clock } = startWith()
      budget.tryTake(calls(20), 'fresh')
      const stopping = new AbortController()
      const taking = budget.take('Write', { lane: 'fresh', signal: stopping.signal })
      await settle()

      stopping.abort()

      expect(await taking).to.equal(false)
      expect(clock.pendingTimers).to.equal(0)
    })
  })

  describe('with a pot beside its share', () => {
    function startWithPot(draw: TokenPot['draw']) {
      const clock = new FakeClock()
      const asked: number[] = []
      const openPot: OpenPot = ({ Write }) => {
        expect(Write).to.deep.equal({ burst: 15, perSecond: 1.5 })
        return {
          draw: (operation, want, lane) => {
            asked.push(want)
            return draw(operation, want, lane)
          },
        }
      }
      const budget = new AccountBudget({ clock, rates, share: 0.5, openPot })
      let granted = 0
      budget.whenGranted(() => granted++)
      return { clock, budget, asked, granted: () => granted }
    }

    it('has a quarter of its share for itself, draws before that is spent, and says when it got more', async () => {
      const { budget, asked, granted } = startWithPot(async () => 3)

      expect(budget.tryTake(calls(2), 'fresh')).to.equal(0)
      await settle()
      expect(asked).to.deep.equal([3])
      expect(granted()).to.equal(1)
      expect(budget.tryTake(calls(3), 'fresh')).to.equal(0)
    })

    it('does not draw while it has plenty', async () => {
      const { budget, asked } = startWithPot(async () => 3)

      budget.tryTake(calls(1, 'Read'), 'fresh')
      await settle()

      expect(asked).to.deep.equal([])
    })

    it('asks an empty pot again only after a while', async () => {
      const { clock, budget, asked } = startWithPot(async () => 0)
      for (let i = 0; i < 5; i++) {
        budget.tryTake(calls(2), 'fresh')
        await settle()
      }
      expect(asked).to.have.length(1)

      await clock.step(200)
      budget.tryTake(calls(2), 'fresh')

      expect(asked).to.have.length(2)
    })

    it('lets what it drew lapse, since nobody else could use it', async () => {
      const { clock, budget } = startWithPot(async () => 10)
      budget.tryTake(calls(2), 'fresh')
      await settle()
      expect(budget.callsLeft('Write', 'fresh').calls).to.equal(10)

      await clock.step(5000)

      expect(budget.callsLeft('Write', 'fresh').calls).to.be.at.most(2)
    })

    it('has its whole share where there turns out to be no pot', async () => {
      const { budget, asked } = startWithPot(async () => undefined)
      budget.tryTake(calls(2), 'fresh')
      await settle()

      expect(budget.tryTake(calls(8), 'fresh')).to.equal(0)
      expect(asked).to.have.length(1)
      expect(budget.status().find(({ operation }) => operation === 'Write')).to.include({ burst: 10, ratePerSecond: 1 })
    })

    it('draws nothing for half a minute after the cloud said that it was too much', async () => {
      const { clock, budget, asked } = startWithPot(async () => 3)
      budget.throttled('Write', { sentAtMs: 0, retryAfterMs: undefined })
      budget.tryTake(calls(2), 'fresh')
      expect(asked).to.deep.equal([])

      await clock.step(30_000)
      budget.tryTake(calls(2), 'fresh')

      expect(asked).to.have.length(1)
    })
  })
})
