import { expect } from 'chai'
import { readableLogLine } from './log-line.ts'

describe('a log line for people', () => {
  it('begins with time, level and message, and gives the fields after them', () => {
    const line =
      '{"level":"warn","time":"2026-01-02T03:04:05.678Z","program":"webhook","claim":"a/b","tries":2,"msg":"later"}'

    expect(readableLogLine(line)).to.equal('03:04:05.678 warn later claim=a/b tries=2')
  })

  it('stays as it is where it is no JSON', () => {
    expect(readableLogLine('{ Error: boom')).to.equal('{ Error: boom')
    expect(readableLogLine('plain')).to.equal('plain')
  })
})
