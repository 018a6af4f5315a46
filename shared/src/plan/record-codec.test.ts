import { expect } from 'chai'
import fc from 'fast-check'
import type { AppliedRecord } from './applied-record.ts'
import { fulfils } from './applied-record.ts'
import { ownershipOf } from './ownership.ts'
import { parseRecord, serializeRecord } from './record-codec.ts'

const record: AppliedRecord = {
  volumeUid: 'v',
  claimUid: 'c',
  cloud: 'aws',
  diskId: 'vol-1',
  settledAtMs: Date.UTC(2026, 0, 1),
  settled: new Map([['team', { value: 'core', before: false }]]),
  left: new Map([['owner', { value: 'me', reason: 'kept' }]]),
  intent: {
    by: 'pod-1',
    untilMs: Date.UTC(2026, 0, 1, 1),
    touched: new Map([['env', { values: ['a', 'b'], before: true }]]),
  },
}

describe('the applied record', () => {
  it('reads back what it wrote', () => {
    expect(parseRecord(serializeRecord(record))).to.deep.equal({ kind: 'record', record })
  })

  it('is none where there is no annotation', () => {
    expect(parseRecord(undefined)).to.deep.equal({ kind: 'none' })
  })

  const written = JSON.parse(serializeRecord(record)) as Record<string, unknown>
  for (const [when, annotation] of [
    ['it is cut off', serializeRecord(record).slice(0, -5)],
    ['it is a later version', JSON.stringify({ ...written, version: 2 })],
    ['it has no version', JSON.stringify({ ...written, version: undefined })],
    ['its intent has no deadline', JSON.stringify({ ...written, intent: { by: 'x', touched: {} } })],
    ['its intent is null', JSON.stringify({ ...written, intent: null })],
    ['a settled tag has no value', JSON.stringify({ ...written, settled: { a: { before: false } } })],
    ['its settle time is no time', JSON.stringify({ ...written, settledAt: 'yesterday' })],
    ['it is a list', '[]'],
    ['it is null', 'null'],
    ['it is empty', ''],
  ] as const) {
    it(`is unreadable, and not empty, when ${when}`, () => {
      expect(parseRecord(annotation).kind).to.equal('unreadable')
    })
  }

  it('survives any text', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void parseRecord(text)))
  })

  it('owns its settled tags and every value of its intent', () => {
    const owned = ownershipOf({ ...record, settled: new Map([['env', { value: 'c', before: false }]]) }, (key) => key)

    expect([...owned]).to.deep.equal([['env', { values: ['c', 'a', 'b'], before: true }]])
  })

  it('fulfils a wish only when every tag is settled or left out on purpose, and no intent is open', () => {
    const wish = new Map([
      ['team', 'core'],
      ['owner', 'me'],
    ])
    const closed = { ...record, intent: undefined }
    const always = () => true

    expect(fulfils(closed, wish, always)).to.equal(true)
    expect(fulfils(record, wish, always)).to.equal(false)
    expect(fulfils(closed, new Map([...wish, ['more', '']]), always)).to.equal(false)
    expect(fulfils(closed, new Map([['team', 'core']]), always)).to.equal(false)
    expect(fulfils(closed, new Map([...wish, ['owner', 'other']]), always)).to.equal(false)
  })
})
