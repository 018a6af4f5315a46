import { expect } from 'chai'
import { FakeClock, settle } from '../../testing/fake-clock.ts'
import { silentLogger } from '../runtime/logger.ts'
import type { Logger } from '../runtime/logger.ts'
import { AccountBudget } from './account-budget.ts'
import { MeteredCalls } from './metered.ts'
import { ProviderError } from './provider-error.ts'
import { SlowLane } from './slow-lane.ts'

function start() {
  const clock = new FakeClock()
  const budget = new AccountBudget({ clock, rates: { Write: { burst: 10, perSecond: 2 } }, share: 1 })
  const slowLane = new SlowLane({ clock, random: { next: () => 0.5 } })
  const told: object[] = []
  const logged: object[] = []
  const logger: Logger = { ...silentLogger, warn: (fields) => logged.push(fields) }
  const calls = new MeteredCalls({
    provider: 'aws',
    scope: 'aws/eu-west-1',
    clock,
    logger,
    budget,
    slowLane,
    timeoutMs: 10_000,
    isKnownCode: (code) => code === 'InternalError',
    metrics: {
      called: ({ outcome, seconds }) => told.push({ outcome, seconds }),
      throttled: ({ operation, scope }) => told.push({ throttled: scope, operation }),
      unknownCode: ({ code, operation }) => told.push({ unknown: code, operation }),
    },
  })
  const failing = (error: Error) =>
    calls.run('Write', 'write', () => Promise.reject(error)).catch((thrown: unknown) => thrown)
  return { budget, calls, clock, failing, logged, slowLane, told }
}

describe('MeteredCalls', () => {
  it('counts a call that succeeded, with its seconds', async () => {
    const { calls, clock, told } = start()

    const answer = calls.run('Write', 'write', async () => {
      await new Promise<void>((resolve) => clock.setTimer(250, resolve))
      return 'answer'
    })
    await clock.step(250)

    expect(await answer).to.equal('answer')
    expect(told).to.deep.equal([{ outcome: 'ok', seconds: 0.25 }])
    expect(clock.pendingTimers).to.equal(0)
  })

  it('counts a failure by its kind', async () => {
    const { failing, told } = start()

    await failing(new ProviderError('denied', 'no', { code: 'UnauthorizedOperation' }))

    expect(told).to.deep.equal([{ outcome: 'denied', seconds: 0 }])
  })

  it('tells the budget of a throttle', async () => {
    const { budget, failing, told } = start()

    await failing(new ProviderError('throttled', 'no', { retryAfterMs: 2000 }))

    expect(budget.pausedForMs).to.equal(2000)
    expect(budget.status()[0]?.ratePerSecond).to.equal(1)
    expect(told[1]).to.deep.equal({ throttled: 'aws/eu-west-1', operation: 'Write' })
  })

  it('ends the slow lane with a success', async () => {
    const { calls, slowLane } = start()
    slowLane.deniedSingly('Write', 'disk-1')
    slowLane.deniedSingly('Write', 'disk-2')

    await calls.run('Write', 'write', () => Promise.resolve())

    expect(slowLane.isSlow()).to.equal(false)
  })

  for (const kind of ['read', 'write'] as const) {
    it(`gives up a ${kind} that hangs, also one that ignores its signal`, async () => {
      const { calls, clock, told } = start()
      let aborted = false
      const hanging = calls
        .run('Write', kind, (signal) => {
          signal.addEventListener('abort', () => (aborted = true))
          return new Promise(() => {})
        })
        .catch((error: unknown) => error)
      await settle()

      await clock.step(10_000)

      const error = await hanging
      expect(error).to.be.instanceOf(ProviderError)
      expect(error).to.include({ kind: 'unavailable', code: 'CallTimeout', outcomeUnknown: kind === 'write' })
      expect(aborted).to.equal(true)
      expect(told).to.deep.equal([{ outcome: 'unavailable', seconds: 10 }])
    })
  }

  it('names codes that nobody knows in log and metric, and only those', async () => {
    const { failing, logged, told } = start()

    await failing(new ProviderError('unavailable', 'known', { code: 'InternalError' }))
    await failing(new ProviderError('unavailable', 'what is it', { code: 'BrandNewError' }))

    expect(told.slice(1)).to.deep.equal([
      { outcome: 'unavailable', seconds: 0 },
      { unknown: 'BrandNewError', operation: 'Write' },
    ])
    expect(logged).to.have.length(1)
    expect(logged[0]).to.include({ code: 'BrandNewError', operation: 'Write' })
  })

  it('lets nothing through that is no ProviderError', async () => {
    const { failing } = start()

    expect(await failing(new TypeError('a bug'))).to.include({ name: 'ProviderError', kind: 'unavailable' })
  })
})
