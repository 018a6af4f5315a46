import { expect } from 'chai'
import { claimEntry } from './entry-for-tests.ts'
import { type Scene, sceneLines } from './scene.ts'
import { plainStyle } from './style.ts'

const scene: Scene = {
  act: 'A claim is relabelled',
  actNumber: 3,
  actCount: 9,
  words: 'The label team=checkout becomes team=payments. The tag follows.',
  elapsedMs: 12_345,
  entries: [claimEntry()],
  calls: 'Calls to EC2 so far: 4 CreateTags',
}

const room = { width: 80, height: 23, style: plainStyle }

describe('the live scene', () => {
  it('says which act it is, how far the play has come and what is about to happen', () => {
    const lines = sceneLines(scene, room)

    expect(lines[1]).to.match(/^Act 3 of 9 ━+─+ +12 s {2}A claim is relabelled$/u)
    expect(lines[2]).to.equal(scene.words)
    expect(lines.at(-1)).to.equal(scene.calls)
  })

  it('has the same number of lines whatever is told, so that the table does not jump', () => {
    const short = sceneLines({ ...scene, words: 'Short.' }, room)
    const long = sceneLines({ ...scene, words: 'word '.repeat(60) }, room)

    expect(short).to.have.length(long.length)
  })

  it('fits a low terminal', () => {
    const entries = Array.from({ length: 50 }, () => claimEntry())

    expect(sceneLines({ ...scene, entries }, { ...room, height: 15 })).to.have.length(15)
  })

  it('is at its end after the last act', () => {
    const lines = sceneLines({ ...scene, act: '', actNumber: 10 }, room)

    expect(lines[1]).to.match(/^All 9 acts played ━+ +12 s$/u)
  })
})
