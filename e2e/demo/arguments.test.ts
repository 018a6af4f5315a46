import { expect } from 'chai'
import { readArguments, wantsTerminalView } from './arguments.ts'

describe('the arguments of the demo', () => {
  it('ask for the play, for the person’s own manifests, or for help', () => {
    expect(readArguments([])).to.deep.equal({ kind: 'play' })
    expect(readArguments(['--manifests', 'mine'])).to.deep.equal({ kind: 'own-manifests', folder: 'mine' })
    expect(readArguments(['-h'])).to.deep.equal({ kind: 'help' })
  })

  it('are wrong where nobody knows them', () => {
    for (const args of [['--manifest', 'mine'], ['mine'], ['--manifests', '']]) {
      expect(readArguments(args).kind, args.join(' ')).to.equal('wrong')
    }
  })
})

describe('the picture', () => {
  it('is for terminals that can show it and people who want it', () => {
    expect(wantsTerminalView({ TERM: 'xterm' }, true)).to.equal(true)
    expect(wantsTerminalView({ TERM: 'xterm', NO_COLOR: '' }, true)).to.equal(true)
  })

  it('gives way to lines in a pipe, a dumb terminal, CI, and with NO_COLOR', () => {
    expect(wantsTerminalView({}, false)).to.equal(false)
    for (const env of [{ TERM: 'dumb' }, { CI: 'true' }, { NO_COLOR: '1' }]) {
      expect(wantsTerminalView(env, true), JSON.stringify(env)).to.equal(false)
    }
  })
})
