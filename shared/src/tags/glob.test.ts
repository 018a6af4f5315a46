import { expect } from 'chai'
import fc from 'fast-check'
import { matchesAny, selects } from './glob.ts'

describe('globs', () => {
  for (const [globs, text, matches] of [
    [['*'], 'anything', true],
    [['*'], '', true],
    [[], 'anything', false],
    [['team'], 'team', true],
    [['team'], 'teams', false],
    [['app.kubernetes.io/*'], 'app.kubernetes.io/name', true],
    [['app.kubernetes.io/*'], 'appXkubernetes.io/name', false],
    [['*-team'], 'core-team', true],
    [['te?m'], 'team', true],
    [['te?m'], 'tem', false],
    [['a+b', '(c)'], '(c)', true],
    [['two*lines'], 'two\nlines', true],
    [['[ab]'], 'a', false],
  ] as const) {
    it(`${JSON.stringify(globs)} ${matches ? 'take' : 'leave out'} ${JSON.stringify(text)}`, () => {
      expect(matchesAny(globs)(text)).to.equal(matches)
    })
  }

  it('leave out again what is excluded', () => {
    const takes = selects({ include: ['*'], exclude: ['helm.sh/chart', 'app.kubernetes.io/version'] })

    expect(['team', 'helm.sh/chart', 'app.kubernetes.io/version'].filter(takes)).to.deep.equal(['team'])
  })

  it('without a wildcard stand for themselves only, whatever they hold', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (glob, text) => {
        fc.pre(!/[*?]/.test(glob))
        expect(matchesAny([glob])(text)).to.equal(glob === text)
      }),
    )
  })
})
