import { expect } from 'chai'
import { messageLengthMax, messageNaming } from './problem-message.ts'

describe('the message of a problem', () => {
  it('names what it is about', () => {
    expect(messageNaming('the same tag as ', 'app', '; it was left out')).to.equal(
      'the same tag as app; it was left out',
    )
  })

  it('cuts a name that is too long, and keeps what comes after', () => {
    const message = messageNaming('the same tag as ', 'x'.repeat(300), '; it was left out')

    expect(message).to.have.length(messageLengthMax)
    expect(message).to.match(/^the same tag as x+\.\.\.; it was left out$/)
  })

  it('never leaves half a character, and shows none that would break a line', () => {
    expect(messageNaming('it became ', '🦁'.repeat(100)).isWellFormed()).to.equal(true)
    expect(messageNaming('it became ', 'a\nb\u0000')).to.equal('it became a?b?')
  })
})
