import { expect } from 'chai'
import * as fc from 'fast-check'
import { sendIsolating } from './isolation.ts'
import type { ProviderErrorKind } from './provider-error.ts'
import { ProviderError } from './provider-error.ts'

interface Script {
  /** What is wrong with a member; a batch fails with the first trouble of its members in this order. */
  readonly troubles?: Readonly<Record<number, ProviderErrorKind>>
  readonly error?: (kind: ProviderErrorKind) => ProviderError
  readonly names?: boolean
  readonly aboutTags?: boolean
  readonly oneMore?: (calls: number) => ProviderError | undefined
}

async function run(count: number, script: Script = {}) {
  const { troubles = {}, names = false, aboutTags = false } = script
  const errorOf = script.error ?? ((kind: ProviderErrorKind) => new ProviderError(kind, kind, { code: kind }))
  const outcomes = new Map<number, ProviderErrorKind | 'ok'>()
  const calls: number[] = []
  const end = (member: number, outcome: ProviderErrorKind | 'ok') => {
    if (outcomes.has(member)) throw new Error(`${member} ended twice`)
    outcomes.set(member, outcome)
  }
  const members = Array.from({ length: count }, (_, member) => member)
  await sendIsolating(members, {
    send: async (members) => {
      calls.push(members.length)
      const ill = members.find((member) => troubles[member] !== undefined)
      if (ill !== undefined) throw errorOf(troubles[ill] ?? 'invalid')
      for (const member of members) end(member, 'ok')
    },
    fail: (member, { kind }) => end(member, kind),
    named: (_, members) => new Set(names ? members.filter((member) => troubles[member] !== undefined).slice(0, 1) : []),
    codes: { isAboutTags: () => aboutTags, isUnexplained: ({ code }) => code === 'Strange' },
    oneMore: async () => script.oneMore?.(calls.length),
    refusedSingly: () => {},
  })
  const inOrder = [...outcomes].sort(([a], [b]) => a - b).map(([, outcome]) => outcome)
  return { calls, outcomes: inOrder }
}

describe('sendIsolating', () => {
  it('needs one call where nothing is wrong', async () => {
    const { calls, outcomes } = await run(100)

    expect(calls).to.deep.equal([100])
    expect(new Set(outcomes)).to.deep.equal(new Set(['ok']))
  })

  for (const kind of ['denied', 'invalid', 'not-found'] as const) {
    it(`finds the one that is ${kind} and writes the others`, async () => {
      const { calls, outcomes } = await run(1000, { troubles: { 617: kind } })

      expect(outcomes[617]).to.equal(kind)
      expect(outcomes.filter((outcome) => outcome === 'ok')).to.have.length(999)
      expect(calls.length).to.be.at.most(21)
    })
  }

  it('leaves out at once whom the cloud names', async () => {
    const { calls, outcomes } = await run(100, { troubles: { 3: 'not-found', 70: 'not-found' }, names: true })

    expect(calls).to.deep.equal([100, 99, 98])
    expect([outcomes[3], outcomes[70], outcomes[4]]).to.deep.equal(['not-found', 'not-found', 'ok'])
  })

  it('ends where all are named', async () => {
    const { calls, outcomes } = await run(1, { troubles: { 0: 'not-found' }, names: true })

    expect(calls).to.deep.equal([1])
    expect(outcomes).to.deep.equal(['not-found'])
  })

  it('fails nobody else’s write for whatever is wrong with a few', async () => {
    const troubles = fc.dictionary(
      fc.integer({ min: 0, max: 63 }).map(String),
      fc.constantFrom<ProviderErrorKind>('denied', 'invalid', 'not-found'),
      { maxKeys: 3, noNullPrototype: true },
    )

    await fc.assert(
      fc.asyncProperty(troubles, async (troubles) => {
        const { outcomes } = await run(64, { troubles })

        expect(outcomes).to.deep.equal(Array.from({ length: 64 }, (_, member) => troubles[member] ?? 'ok'))
      }),
    )
  })

  it('bounds its calls, and blames nobody whom it could not tell apart', async () => {
    const troubles = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [2 * i, 'denied' as const]))

    const { calls, outcomes } = await run(1000, { troubles })

    expect(calls.length).to.equal(57)
    expect(outcomes).to.have.length(1000)
    outcomes.forEach((outcome, member) => {
      expect(outcome).to.be.oneOf(member % 2 === 0 ? ['denied', 'unavailable'] : ['ok', 'unavailable'])
    })
  })

  it('stops when there is no right to one more call', async () => {
    const refusal = new ProviderError('denied', 'slow lane', { retryAfterMs: 1 })

    const { calls, outcomes } = await run(8, {
      troubles: { 0: 'denied', 1: 'denied' },
      oneMore: (calls) => (calls >= 5 ? refusal : undefined),
    })

    expect(calls).to.deep.equal([8, 4, 2, 1, 1])
    expect(outcomes).to.deep.equal(Array.from({ length: 8 }, () => 'denied'))
  })

  it('blames the tags when three disks refuse them singly and none takes them', async () => {
    const troubles = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [i, 'invalid' as const]))

    const { calls, outcomes } = await run(1000, { troubles, aboutTags: true })

    expect(calls.length).to.be.at.most(15)
    expect(new Set(outcomes)).to.deep.equal(new Set(['invalid']))
  })

  it('does not blame the tags where somebody took them', async () => {
    const troubles = Object.fromEntries([4, 5, 6, 7].map((member) => [member, 'invalid' as const]))

    const { outcomes } = await run(16, { troubles, aboutTags: true })

    expect(outcomes.map((outcome) => outcome === 'ok')).to.deep.equal(
      Array.from({ length: 16 }, (_, member) => troubles[member] === undefined),
    )
  })

  it('fails all together when throttled, also those that were set apart', async () => {
    let throttle = false
    const { calls, outcomes } = await run(8, {
      troubles: { 0: 'denied' },
      error: (kind) => {
        if (throttle) return new ProviderError('throttled', 'too much')
        throttle = true
        return new ProviderError(kind, kind)
      },
    })

    expect(calls).to.deep.equal([8, 4])
    expect(outcomes).to.deep.equal(Array.from({ length: 8 }, () => 'throttled'))
  })

  for (const outcomeUnknown of [true, false]) {
    it(`does not split a batch that got no answer (outcome unknown: ${outcomeUnknown})`, async () => {
      const { calls, outcomes } = await run(8, {
        troubles: { 0: 'unavailable' },
        error: () => new ProviderError('unavailable', 'silence', { code: 'CallTimeout', outcomeUnknown }),
      })

      expect(calls).to.deep.equal([8])
      expect(new Set(outcomes)).to.deep.equal(new Set(['unavailable']))
    })
  }

  it('splits a batch that was refused with a code that nobody knows', async () => {
    const { outcomes } = await run(8, {
      troubles: { 5: 'unavailable' },
      error: () => new ProviderError('unavailable', 'what?', { code: 'Strange' }),
    })

    expect(outcomes.map((outcome) => outcome === 'ok')).to.deep.equal([true, true, true, true, true, false, true, true])
  })
})
