import { expect } from 'chai'
import { claimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { ClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import { mergeHints } from '@k8s-cloud-tagger/shared/queue/hints.ts'
import type { Hints } from '@k8s-cloud-tagger/shared/queue/hints.ts'
import { WorkQueue } from '@k8s-cloud-tagger/shared/queue/work-queue.ts'
import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { jobIntake } from './job-intake.ts'

function start(capacity: number) {
  const clock = new FakeClock()
  const queue = new WorkQueue<ClaimKey, Hints>({ clock, merge: mergeHints, capacity })
  let overflows = 0
  const enqueue = jobIntake({ clock, queue, onOverflow: () => overflows++ })
  const job = (name: string, newerThan: string, namespace = 'db') =>
    enqueue({ key: claimKey(namespace, name), hints: { lane: 'fresh', newerThan } })
  return { clock, queue, job, overflows: () => overflows }
}

describe('jobIntake', () => {
  it('gives the store a few milliseconds before the first look', async () => {
    const { clock, queue, job } = start(10)

    job('data-0', '11')

    expect(queue.readyCount).to.equal(0)
    await clock.step(4)
    expect(queue.readyCount).to.equal(1)
  })

  it('makes one look of several reviews of one claim, which waits for the last of them', async () => {
    const { clock, queue, job } = start(10)

    for (const version of ['11', '9', '12']) job('data-0', version)
    await clock.step(4)

    expect((await queue.get())?.hints).to.deep.equal({ lane: 'fresh', newerThan: '12' })
    expect(queue.readyCount).to.equal(0)
  })

  it('lets no namespace that floods hold up the others', async () => {
    const { clock, queue, job } = start(10_000)
    for (let i = 0; i < 3000; i++) job(`data-${i}`, '11', 'flood')
    job('data-0', '11', 'quiet')

    await clock.step(4)

    expect(queue.readyIn('fresh')).to.equal(2001)
    expect(queue.readyIn('bulk')).to.equal(1000)
  })

  it('counts what the full queue does not take', () => {
    const { job, overflows } = start(2)

    for (const name of ['data-0', 'data-1', 'data-2', 'data-0']) job(name, '11')

    expect(overflows()).to.equal(1)
  })
})
