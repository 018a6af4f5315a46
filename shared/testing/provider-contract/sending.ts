import { expect } from 'chai'
import { apply, callOptions, changes, failureOf, listed, rejectionOf, type CurrentSubject } from './subject.ts'

/** What the path hangs on beforeSend and its deadline, and what it is told when a call fails. */
export function describeSending(current: CurrentSubject): void {
  describe('beforeSend', () => {
    it('is called once, before the first call', async () => {
      const { provider, addDisk, calls } = current()
      const disk = addDisk()
      const observed = provider.replacesWholeSet ? await provider.getTags(disk, callOptions()) : undefined
      const callsBefore = calls()
      const callsSeen: number[] = []
      const beforeSend = () => {
        callsSeen.push(calls() - callsBefore)
        return Promise.resolve(Infinity)
      }

      await provider.applyChanges(disk, changes({ a: '1' }, { b: ['2'] }), observed, { ...callOptions(), beforeSend })

      expect(callsSeen).to.deep.equal([0])
      expect(calls()).to.be.greaterThan(callsBefore)
    })

    it('passes its rejection through, leaves that disk out and lets the others go on', async () => {
      const { addDisk, tagsOf } = current()
      const disks = [addDisk(), addDisk(), addDisk()]
      const reason = new Error('the record was changed by somebody else')
      const outcomes = disks.map((disk, i) =>
        apply(current(), disk, changes({ team: 'core' }), {
          beforeSend: () => (i === 1 ? Promise.reject(reason) : Promise.resolve(Infinity)),
        }),
      )

      const rejection = await rejectionOf(outcomes[1] ?? Promise.resolve())
      await Promise.all([outcomes[0], outcomes[2]])

      expect(rejection).to.equal(reason)
      expect(disks.map(tagsOf)).to.deep.equal([{ team: 'core' }, {}, { team: 'core' }])
    })

    it('ends the write unsent when the time that it returns has passed, and lets the others go on', async () => {
      const { addDisk, tagsOf, clock } = current()
      const disks = [addDisk(), addDisk()]
      const [late, inTime] = [-1, 60_000].map((ms, i) =>
        apply(current(), disks[i] ?? addDisk(), changes({ team: 'core' }), {
          beforeSend: () => Promise.resolve(clock.monotonicMs() + ms),
        }),
      )

      const failure = await failureOf(late ?? Promise.resolve(), 'unavailable')
      await inTime

      expect(failure.outcomeUnknown).to.equal(false)
      expect(disks.map(tagsOf)).to.deep.equal([{}, { team: 'core' }])
    })

    it('makes no call when its time has passed', async () => {
      const { provider, addDisk, calls, clock } = current()
      const disk = addDisk()
      const beforeSend = () => Promise.resolve(clock.monotonicMs() - 1)

      await failureOf(
        provider.applyChanges(disk, changes({ a: '1' }), { tags: new Map() }, { ...callOptions(), beforeSend }),
        'unavailable',
      )

      expect(calls()).to.equal(0)
    })

    it('is not called, nor is the cloud, when the write was aborted before', async () => {
      const { provider, addDisk, calls } = current()
      let promised = 0
      const options = {
        ...callOptions({ signal: AbortSignal.abort() }),
        beforeSend: () => Promise.resolve(++promised),
      }

      const failure = await failureOf(
        provider.applyChanges(addDisk(), changes({ a: '1' }), { tags: new Map() }, options),
        'unavailable',
      )

      expect(failure.outcomeUnknown).to.equal(false)
      expect([promised, calls()]).to.deep.equal([0, 0])
    })

    it('is the last moment at which an abort keeps the write unsent', async () => {
      const { provider, addDisk, calls } = current()
      const stopping = new AbortController()
      const beforeSend = () => {
        stopping.abort()
        return Promise.resolve(Infinity)
      }

      const failure = await failureOf(
        provider.applyChanges(
          addDisk(),
          changes({ a: '1' }),
          { tags: new Map() },
          {
            ...callOptions({ signal: stopping.signal }),
            beforeSend,
          },
        ),
        'unavailable',
      )

      expect(failure.outcomeUnknown).to.equal(false)
      expect(calls()).to.equal(0)
    })
  })
}

export function describeFailures(current: CurrentSubject): void {
  describe('a call that fails', () => {
    it('is throttled, with the wait that the cloud asked for and nothing written', async () => {
      const { provider, addDisk, tagsOf, failNext, throttleRetryAfterMs } = current()
      const disk = addDisk({ foreign: 'keep' })
      const observed = provider.replacesWholeSet ? await provider.getTags(disk, callOptions()) : undefined
      failNext('throttled', 'write')

      const failure = await failureOf(
        provider.applyChanges(disk, changes({ a: '1' }), observed, callOptions()),
        'throttled',
      )

      expect(failure.retryAfterMs).to.equal(throttleRetryAfterMs)
      expect(failure.outcomeUnknown).to.equal(false)
      expect(tagsOf(disk)).to.deep.equal({ foreign: 'keep' })
    })

    it('has an unknown outcome when the answer to a write was lost', async () => {
      const { provider, addDisk, tagsOf, failNext } = current()
      const disk = addDisk()
      const observed = provider.replacesWholeSet ? await provider.getTags(disk, callOptions()) : undefined
      failNext('lost-answer', 'write')

      const failure = await failureOf(
        provider.applyChanges(disk, changes({ a: '1' }), observed, callOptions()),
        'unavailable',
      )

      expect(failure.outcomeUnknown).to.equal(true)
      expect(tagsOf(disk)).to.deep.equal({ a: '1' })
    })

    it('can be repeated after a lost answer', async () => {
      const { addDisk, tagsOf, failNext } = current()
      const disk = addDisk({ old: 'x' })
      const wanted = changes({ a: '1' }, { old: ['x'] })
      failNext('lost-answer', 'write')

      await failureOf(apply(current(), disk, wanted), 'unavailable')
      await apply(current(), disk, wanted)

      expect(tagsOf(disk)).to.deep.equal({ a: '1' })
    })

    for (const kind of ['throttled', 'unavailable'] as const) {
      it(`is ${kind} when a read was`, async () => {
        const { provider, addDisk, failNext } = current()
        const disk = addDisk()
        failNext(kind, 'read')

        await failureOf(provider.getTags(disk, callOptions()), kind)
      })

      it(`is ${kind} when a bulk read was`, async () => {
        const { addDisk, failNext } = current()
        const disks = [addDisk()]
        failNext(kind, 'read')

        await failureOf(listed(current(), disks), kind)
      })
    }
  })
}
