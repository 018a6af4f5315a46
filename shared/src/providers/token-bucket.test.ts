import { expect } from 'chai'
import { FakeClock } from '../../testing/fake-clock.ts'
import { TokenBucket } from './token-bucket.ts'

function startWith(options: { burst: number; perSecond: number }) {
  const clock = new FakeClock()
  return { clock, bucket: new TokenBucket({ clock, ...options }) }
}

describe('TokenBucket', () => {
  it('gives its burst at once and then its rate', async () => {
    const { bucket, clock } = startWith({ burst: 3, perSecond: 2 })

    bucket.take(3)

    expect(bucket.waitMs(1, 0)).to.equal(500)
    await clock.step(500)
    expect(bucket.waitMs(1, 0)).to.equal(0)
    await clock.step(60_000)
    expect(bucket.tokens).to.equal(3)
  })

  it('leaves a reserve to others', async () => {
    const { bucket, clock } = startWith({ burst: 4, perSecond: 1 })
    bucket.take(3)

    expect(bucket.waitMs(1, 1)).to.equal(1000)
    expect(bucket.waitMs(1, 0)).to.equal(0)
    await clock.step(1000)
    expect(bucket.waitMs(1, 1)).to.equal(0)
  })

  it('holds at least one token, however small the share', () => {
    const { bucket } = startWith({ burst: 0.02, perSecond: 0.002 })

    expect(bucket.waitMs(1, 0)).to.equal(0)
    bucket.take(1)
    expect(bucket.waitMs(1, 0)).to.equal(500_000)
  })

  it('takes back what was not used, up to its burst', () => {
    const { bucket } = startWith({ burst: 5, perSecond: 1 })
    bucket.take(2)

    bucket.giveBack(4)

    expect(bucket.tokens).to.equal(5)
  })

  it('halves its rate and forgets its tokens on a throttle', () => {
    const { bucket } = startWith({ burst: 10, perSecond: 8 })

    bucket.slowDown(0)

    expect(bucket.ratePerSecond).to.equal(4)
    expect(bucket.tokens).to.equal(0)
  })

  it('halves once for all calls that were under way together', async () => {
    const { bucket, clock } = startWith({ burst: 10, perSecond: 8 })
    const sentAtMs = clock.monotonicMs()
    await clock.step(100)

    bucket.slowDown(sentAtMs)
    bucket.slowDown(sentAtMs)
    expect(bucket.ratePerSecond).to.equal(4)

    await clock.step(100)
    bucket.slowDown(clock.monotonicMs())
    expect(bucket.ratePerSecond).to.equal(2)
  })

  it('never falls below a sixteenth', async () => {
    const { bucket, clock } = startWith({ burst: 10, perSecond: 16 })

    for (let i = 0; i < 20; i++) {
      await clock.step(1)
      bucket.slowDown(clock.monotonicMs())
    }

    expect(bucket.ratePerSecond).to.equal(1)
  })

  it('comes back by a tenth of the full rate every 30 s without a throttle', async () => {
    const { bucket, clock } = startWith({ burst: 10, perSecond: 10 })
    bucket.slowDown(0)

    await clock.step(29_999)
    expect(bucket.ratePerSecond).to.equal(5)
    await clock.step(1)
    expect(bucket.ratePerSecond).to.equal(6)
    await clock.step(20_000)
    bucket.slowDown(-1)
    await clock.step(20_000)
    expect(bucket.ratePerSecond).to.equal(6)
    await clock.step(10_000)
    expect(bucket.ratePerSecond).to.equal(7)
    await clock.step(600_000)
    expect(bucket.ratePerSecond).to.equal(10)
  })

  it('fills at the rate of each moment while it recovers', async () => {
    const { bucket, clock } = startWith({ burst: 1000, perSecond: 10 })
    bucket.slowDown(0)

    await clock.step(60_000)

    expect(bucket.tokens).to.be.closeTo(30 * 5 + 30 * 6, 0.001)
  })
})
