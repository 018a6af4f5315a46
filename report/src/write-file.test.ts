import { expect } from 'chai'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from './usage-error.ts'
import { writeWhole } from './write-file.ts'

describe('writeWhole', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'write-whole-'))
  })

  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  it('writes the parts one after another, over what was there', () => {
    const path = join(folder, 'report.csv')
    writeFileSync(path, 'much longer than what comes')

    writeWhole(path, ['a,', 'b\n'])

    expect(readFileSync(path, 'utf8')).to.equal('a,b\n')
    expect(readdirSync(folder)).to.deep.equal(['report.csv'])
  })

  it('leaves the former file as it is where a part cannot be had', () => {
    const path = join(folder, 'report.csv')
    writeFileSync(path, 'former')
    function* breaking(): Iterable<string> {
      yield 'half'
      throw new Error('no more')
    }

    expect(() => writeWhole(path, breaking())).to.throw(UsageError, 'no more')
    expect(readFileSync(path, 'utf8')).to.equal('former')
    expect(readdirSync(folder)).to.deep.equal(['report.csv'])
  })

  it('says which path cannot be written, and why', () => {
    const path = join(folder, 'nowhere', 'report.csv')

    expect(() => writeWhole(path, ['a'])).to.throw(UsageError, `--file ${path}: cannot be written (ENOENT)`)
  })
})
