import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { expect } from 'chai'
import { Progress } from './progress.ts'

describe('Progress', () => {
  function start(isTerminal: boolean) {
    const clock = new FakeClock()
    const written: string[] = []
    return { clock, written, progress: new Progress({ clock, isTerminal, write: (text) => void written.push(text) }) }
  }

  it('says nothing of work that is done at once', () => {
    const { progress, written } = start(false)

    progress.at('reading disks', 1000)
    progress.end()

    expect(written).to.deep.equal([])
  })

  it('writes a line every three seconds where nobody watches', async () => {
    const { clock, progress, written } = start(false)

    for (let done = 0; done < 70; done++) {
      await clock.step(100)
      progress.at('reading disks', done * 1000, 70_000)
    }
    progress.end()

    expect(written).to.deep.equal(['reading disks: 29,000 of 70,000\n', 'reading disks: 59,000 of 70,000\n'])
  })

  it('keeps one line up to date on a terminal, and takes it away', async () => {
    const { clock, progress, written } = start(true)

    await clock.step(100)
    progress.at('reading claims', 500)
    progress.say('warning: slow')
    progress.end()

    expect(written).to.deep.equal(['\r\u001B[Kreading claims: 500', '\r\u001B[K', 'warning: slow\n'])
  })
})
