import { expect } from 'chai'
import { claimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import { noChanges } from '@k8s-cloud-tagger/shared/plan/tag-changes.ts'
import { outcomeKinds } from '@k8s-cloud-tagger/shared/tagger/outcome.ts'
import type { Outcome } from '@k8s-cloud-tagger/shared/tagger/outcome.ts'
import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { ClaimBoard } from './claim-board.ts'

const failed = {
  kind: 'cloud-failure',
  code: undefined,
  message: 'no',
  retryAfterMs: undefined,
  outcomeUnknown: false,
  observed: true,
} as const
const key = claimKey('db', 'data-0')

function shown(board: ClaimBoard): Record<string, number> {
  return Object.fromEntries([...board.counts()].map(({ state, reason, count }) => [`${state} ${reason}`.trim(), count]))
}

describe('ClaimBoard', () => {
  const cases: readonly (readonly [Outcome, Record<string, number>])[] = [
    [{ kind: 'tagged', changes: noChanges }, { tagged: 1 }],
    [{ kind: 'in-sync' }, { tagged: 1 }],
    [{ kind: 'reported', changes: noChanges }, { reported: 1 }],
    [{ kind: 'pending', reason: 'claim-unbound' }, { 'pending claim-unbound': 1 }],
    [{ kind: 'skipped', reason: 'unsupported-volume' }, { 'skipped unsupported-volume': 1 }],
    [{ kind: 'skipped', reason: 'claim-gone' }, {}],
    [{ ...failed, reason: 'denied' }, { 'failed cloud-denied': 1 }],
    [
      { kind: 'cluster-failure', reason: 'denied', message: 'no', retryAfterMs: undefined },
      { 'failed kubernetes-denied': 1 },
    ],
    [{ kind: 'busy', by: 'pod-b', retryAfterMs: 1 }, { 'pending another-process': 1 }],
    [{ kind: 'stale', found: true }, {}],
    [{ kind: 'stopped' }, {}],
  ]
  for (const [outcome, counts] of cases) {
    const what = 'reason' in outcome ? `${outcome.kind} (${outcome.reason})` : outcome.kind
    it(`shows a claim whose last pass ended with ${what} as ${Object.keys(counts)[0] ?? 'nothing new'}`, () => {
      const board = new ClaimBoard(new FakeClock())

      board.passed(key, outcome)

      expect(shown(board)).to.deep.equal(counts)
    })
  }

  it('has a row for every outcome', () => {
    expect(new Set(cases.map(([{ kind }]) => kind))).to.deep.equal(new Set(outcomeKinds))
  })

  it('counts each claim once, in its last state, and goes on showing a state that nobody is in any more', () => {
    const board = new ClaimBoard(new FakeClock())
    for (const name of ['a', 'b', 'c']) board.passed(claimKey('db', name), { kind: 'pending', reason: 'claim-unbound' })

    for (const name of ['a', 'b', 'c']) board.passed(claimKey('db', name), { kind: 'tagged', changes: noChanges })
    board.passed(claimKey('db', 'c'), { ...failed, reason: 'invalid' })
    board.passed(claimKey('db', 'b'), { kind: 'stale', found: true })

    expect(shown(board)).to.deep.equal({ 'pending claim-unbound': 0, tagged: 2, 'failed cloud-invalid': 1 })
  })

  it('forgets a claim that is gone, and everything when its term is over', () => {
    const board = new ClaimBoard(new FakeClock())
    board.passed(key, { kind: 'in-sync' })
    board.passed(claimKey('db', 'data-1'), { kind: 'in-sync' })

    board.gone(key)
    board.gone(key)
    expect(shown(board)).to.deep.equal({ tagged: 1 })

    board.clear()
    expect(shown(board)).to.deep.equal({ tagged: 0 })
  })
})
