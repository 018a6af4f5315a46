import { expect } from 'chai'
import { claimEntry } from './entry-for-tests.ts'
import type { Scene } from './scene.ts'
import { type Terminal, TerminalView } from './terminal-view.ts'

const escape = '\u001B'

/** A terminal as far as the view uses one: what stands on it, line by line. */
class FakeTerminal implements Terminal {
  columns = 100
  rows = 30
  readonly screen: string[] = []
  readonly writes: string[] = []
  #line = 0

  write(text: string): void {
    this.writes.push(text)
    const pattern = new RegExp(String.raw`${escape}\[(\??\d*(?:;\d+)*)([a-zA-Z])|\r|\n|[^${escape}\r\n]+`, 'gu')
    let row = this.screen[this.#line] ?? ''
    for (const match of text.matchAll(pattern)) {
      const [token, amount, command] = match
      if (command === 'A') this.#line -= Number(amount)
      else if (command === 'J') this.screen.length = this.#line
      else if (token === '\n') {
        this.screen[this.#line] = row
        this.#line++
        row = ''
      } else if (command === undefined && token !== '\r') row += token
    }
  }

  on(): void {}
  off(): void {}
}

const scene: Scene = {
  act: 'Claims appear',
  actNumber: 1,
  actCount: 2,
  words: 'Two claims are created.',
  elapsedMs: 1000,
  entries: [claimEntry()],
  calls: 'no calls',
}

describe('the terminal view', () => {
  let terminal: FakeTerminal
  let view: TerminalView

  beforeEach(() => {
    terminal = new FakeTerminal()
    view = new TerminalView(terminal)
  })

  afterEach(() => view.close())

  it('draws a new picture over the old one', () => {
    view.announce(scene)
    const lines = terminal.screen.length

    view.announce({ ...scene, calls: 'one call' })

    expect(terminal.screen).to.have.length(lines)
    expect(terminal.screen.at(-1)).to.equal('one call')
  })

  it('keeps lines above the picture', () => {
    view.announce(scene)

    view.keep(['ok  1 Claims appear'])

    expect(terminal.screen[0]).to.equal('ok  1 Claims appear')
    expect(terminal.screen.at(-1)).to.equal('no calls')
  })

  it('writes nothing while nothing changes', () => {
    view.announce(scene)
    const writes = terminal.writes.length

    view.announce(scene)

    expect(terminal.writes).to.have.length(writes)
  })

  it('puts the last lines in the place of the picture', () => {
    view.announce(scene)

    view.settle(['the end'])

    expect(terminal.screen).to.deep.equal(['', 'the end'])
  })

  it('hides the cursor and gives it back once', () => {
    view.close()
    view.close()

    const text = terminal.writes.join('')
    expect(text.startsWith('\u001B[?25l')).to.equal(true)
    expect(text.split('\u001B[?25h')).to.have.length(2)
  })

  it('goes far enough up when a narrower terminal has broken its lines', () => {
    view.announce({ ...scene, words: 'x'.repeat(90) })
    const before = terminal.screen.length
    terminal.columns = 60

    view.keep(['kept'])

    const up = new RegExp(String.raw`${escape}\[(\d+)A`, 'u').exec(terminal.writes.at(-1) ?? '')?.[1]
    expect(Number(up)).to.be.greaterThan(before)
  })
})
