import { expect } from 'chai'
import { changesOf } from './changelog.ts'

const changelog = '# Changelog\n\n## 1.1.0\n\n### Added\n\n- New.\n\n## 1.0.0\n\nThe first.\n\n## 0.9.0\n'

describe('the changelog', () => {
  it('gives a release the text below its heading', () => {
    expect(changesOf(changelog, '1.1.0')).to.equal('### Added\n\n- New.')
    expect(changesOf(changelog, '1.0.0')).to.equal('The first.')
  })

  it('lets nothing out that it does not mention', () => {
    expect(() => changesOf(changelog, '1.2.0')).to.throw('no heading "## 1.2.0"')
    expect(() => changesOf(changelog, '1.0')).to.throw('no heading "## 1.0"')
    expect(() => changesOf(changelog, '0.9.0')).to.throw('says nothing below "## 0.9.0"')
  })
})
