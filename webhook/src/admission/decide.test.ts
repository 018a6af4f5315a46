import { expect } from 'chai'
import { admissionReview } from '@k8s-cloud-tagger/shared/testing/programs/review.ts'
import type { ReviewOptions } from '@k8s-cloud-tagger/shared/testing/programs/review.ts'
import { claimWriteOf, decide, reviewOutcomes } from './decide.ts'
import { silence } from './judge.ts'
import { decodeReview } from './review.ts'

function requestOf(options: ReviewOptions) {
  const decoded = decodeReview(JSON.stringify(admissionReview(options)))
  if (decoded.kind === 'malformed') throw new Error(decoded.problem)
  return decoded.request
}

function decisionOn(options: ReviewOptions, judgement = silence) {
  return decide(requestOf(options), judgement)
}

const bound = { uid: 'claim-uid-1', resourceVersion: '12', volumeName: 'pv-1' }
const before = { uid: 'claim-uid-1', resourceVersion: '11' }

const cases: readonly {
  readonly when: string
  readonly review: ReviewOptions
  readonly outcome: (typeof reviewOutcomes)[number]
}[] = [
  { when: 'a claim is bound', review: { object: bound, oldObject: before }, outcome: 'queued' },
  { when: 'a claim is created for a volume', review: { operation: 'CREATE', object: bound }, outcome: 'queued' },
  { when: 'a claim has no volume yet', review: { operation: 'CREATE', object: before }, outcome: 'unbound' },
  { when: 'nothing is to be stored', review: { object: bound, oldObject: before, dryRun: true }, outcome: 'dry-run' },
  {
    when: 'the claim is on its way out',
    review: { object: { ...bound, deletionTimestamp: '2026-11-30T00:00:00Z' }, oldObject: before },
    outcome: 'deleting',
  },
  {
    when: 'a claim is deleted',
    review: { operation: 'DELETE', object: null, oldObject: bound },
    outcome: 'not-a-claim',
  },
  { when: 'something connects to it', review: { operation: 'CONNECT', object: bound }, outcome: 'not-a-claim' },
  {
    when: 'only its status is written',
    review: { object: bound, oldObject: before, subResource: 'status' },
    outcome: 'not-a-claim',
  },
  {
    when: 'another resource is written',
    review: { object: bound, resource: { group: '', version: 'v1', resource: 'configmaps' } },
    outcome: 'not-a-claim',
  },
  {
    when: 'another group has a resource of that name',
    review: { object: bound, resource: { group: 'example.com', version: 'v1', resource: 'persistentvolumeclaims' } },
    outcome: 'not-a-claim',
  },
  { when: 'there is no object', review: { object: null }, outcome: 'not-a-claim' },
  { when: 'the object has no name', review: { object: { ...bound, name: '' } }, outcome: 'not-a-claim' },
]

describe('claimWriteOf', () => {
  for (const { when, review, outcome } of cases) {
    if (outcome === 'not-a-claim' && when !== 'the object has no name') {
      it(`is undefined when ${when}`, () => {
        expect(claimWriteOf(requestOf(review))).to.equal(undefined)
      })
    }
  }

  it('knows a claim before its update, and none before its creation', () => {
    expect(claimWriteOf(requestOf({ object: bound, oldObject: before }))?.oldObject?.resourceVersion).to.equal('11')
    const created = claimWriteOf(requestOf({ operation: 'CREATE', object: bound, oldObject: before }))
    expect(created).to.have.property('oldObject', undefined)
  })
})

describe('decide', () => {
  for (const { when, review, outcome } of cases) {
    it(`allows, and ${outcome === 'queued' ? 'makes a job' : 'makes no job'} when ${when}`, () => {
      const decision = decisionOn(review)

      expect(decision.answer).to.deep.equal({ allowed: true })
      expect(decision.outcome).to.equal(outcome)
      expect(decision.job !== undefined).to.equal(outcome === 'queued')
    })
  }

  const judgement = { warnings: ['mind the gap'], denial: 'no', told: [] }

  it('refuses what is denied, and makes no job', () => {
    expect(decisionOn({ object: bound, oldObject: before }, judgement)).to.deep.equal({
      answer: { allowed: false, message: 'no', warnings: ['mind the gap'] },
      outcome: 'denied',
      job: undefined,
    })
  })

  it('gives a dry run the same answer, and makes no job', () => {
    for (const denial of ['no', undefined]) {
      const said = { ...judgement, denial }
      const real = decisionOn({ object: bound, oldObject: before }, said)
      const dry = decisionOn({ object: bound, oldObject: before, dryRun: true }, said)

      expect(dry).to.deep.equal({ answer: real.answer, outcome: 'dry-run', job: undefined })
    }
  })

  it('warns of a claim that makes a job, and of one that makes none', () => {
    const warning = { ...judgement, denial: undefined }

    for (const object of [bound, before]) {
      expect(decisionOn({ object, oldObject: before }, warning).answer).to.deep.equal({
        allowed: true,
        warnings: ['mind the gap'],
      })
    }
  })

  it('has a case for every outcome', () => {
    expect(new Set(['denied', ...cases.map(({ outcome }) => outcome)])).to.deep.equal(new Set(reviewOutcomes))
  })

  it('hints at the version before an update, at the uid and at the volume', () => {
    expect(decisionOn({ object: bound, oldObject: before }).job).to.deep.equal({
      key: 'db/data-0',
      hints: { lane: 'fresh', uid: 'claim-uid-1', newerThan: '11', volumeName: 'pv-1' },
    })
  })

  it('hints at no version for a claim that was not there before, named by generateName', () => {
    const object = { ...bound, name: 'data-x7k2p', generateName: 'data-', resourceVersion: '' }

    expect(decisionOn({ operation: 'CREATE', name: '', object }).job).to.deep.equal({
      key: 'db/data-x7k2p',
      hints: { lane: 'fresh', uid: 'claim-uid-1', volumeName: 'pv-1' },
    })
  })
})
