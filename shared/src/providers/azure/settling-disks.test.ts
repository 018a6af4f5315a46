import { expect } from 'chai'
import { FakeClock, settle } from '../../../testing/fake-clock.ts'
import { SettlingDisks } from './settling-disks.ts'

describe('disks that settle', () => {
  const never = new AbortController().signal

  function start() {
    const clock = new FakeClock()
    const disks = new SettlingDisks({ clock, quietMs: 5000 })
    const settledAtMs = async (disk: string, signal = never) => {
      await disks.settled(disk, signal)
      return clock.monotonicMs()
    }
    return { clock, disks, settledAtMs }
  }

  it('are left alone after a write, and after the last of several, each by itself', async () => {
    const { clock, disks, settledAtMs } = start()

    disks.written('twice')
    disks.written('once')
    await clock.step(1000)
    disks.written('twice')
    const times = [settledAtMs('once'), settledAtMs('twice'), settledAtMs('never')]
    await clock.step(10_000)

    expect(await Promise.all(times)).to.deep.equal([5000, 6000, 1000])
  })

  it('are waited for no longer than the caller wants, and not beyond the end', async () => {
    const { clock, disks, settledAtMs } = start()
    const caller = new AbortController()

    disks.written('d')
    const times = [settledAtMs('d', caller.signal), settledAtMs('d')]
    await clock.step(10)
    caller.abort()
    await settle()
    await clock.step(10)
    disks.stop()
    await settle()

    expect(await Promise.all(times)).to.deep.equal([10, 20])
    expect(await settledAtMs('d')).to.equal(20)
    expect(clock.pendingTimers).to.equal(0)
  })
})
