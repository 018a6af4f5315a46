import { expect } from 'chai'
import { PlainView } from './plain-view.ts'

describe('the plain view', () => {
  it('writes a line for each event, with the seconds since the start, and no control characters', () => {
    let text = ''
    const view = new PlainView({ write: (more) => (text += more), elapsedMs: () => 12_340 })

    view.announce({
      act: 'Claims appear',
      actNumber: 1,
      actCount: 2,
      words: 'Now.',
      elapsedMs: 0,
      entries: [],
      calls: '',
    })
    view.event('shop/orders bound to vol-1')
    view.keep(['ok  1 Claims appear'])
    view.close()

    expect(text).to.equal(
      '\nAct 1 of 2: Claims appear\nNow.\n  12.3 s  shop/orders bound to vol-1\nok  1 Claims appear\n',
    )
  })
})
