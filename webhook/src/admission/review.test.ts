import { expect } from 'chai'
import fc from 'fast-check'
import { admissionReview } from '@k8s-cloud-tagger/shared/testing/programs/review.ts'
import { allowed, decodeReview, encodeAnswer } from './review.ts'

function problemOf(body: string): string | undefined {
  const decoded = decodeReview(body)
  return decoded.kind === 'malformed' ? decoded.problem : undefined
}

function requestOf(review: object) {
  const decoded = decodeReview(JSON.stringify(review))
  if (decoded.kind === 'malformed') throw new Error(decoded.problem)
  return decoded.request
}

describe('decodeReview', () => {
  it('reads the fields that are used, and no others', () => {
    const review = admissionReview({
      uid: 'review-1',
      object: { uid: 'claim-uid-1', resourceVersion: '12', volumeName: 'pv-1', labels: { team: 'core' } },
      oldObject: { uid: 'claim-uid-1', resourceVersion: '11' },
    })

    expect(requestOf(review)).to.deep.equal({
      uid: 'review-1',
      operation: 'UPDATE',
      resource: { group: '', resource: 'persistentvolumeclaims' },
      subResource: undefined,
      dryRun: false,
      object: {
        namespace: 'db',
        name: 'data-0',
        uid: 'claim-uid-1',
        resourceVersion: '12',
        volumeName: 'pv-1',
        storageClassName: undefined,
        labels: { team: 'core' },
        annotations: {},
        hasLabels: true,
        deleting: false,
      },
      oldObject: {
        namespace: 'db',
        name: 'data-0',
        uid: 'claim-uid-1',
        resourceVersion: '11',
        volumeName: undefined,
        storageClassName: undefined,
        labels: {},
        annotations: {},
        hasLabels: false,
        deleting: false,
      },
    })
  })

  it('takes the name of the object where the request has none, as with generateName', () => {
    const review = admissionReview({
      operation: 'CREATE',
      name: '',
      object: { name: 'data-x7k2p', generateName: 'data-' },
    })

    expect(review.request).to.not.have.property('name')
    expect(requestOf(review).object?.name).to.equal('data-x7k2p')
  })

  it('knows no name before generateName has made one, and takes the namespace of the request', () => {
    const review = admissionReview({ operation: 'CREATE', name: '', object: { namespace: '', name: '' } })

    expect(requestOf(review).object).to.include({ namespace: 'db', name: undefined })
  })

  it("keeps labels and annotations that are text, and never kubectl's copy of the object", () => {
    const labels = JSON.parse('{"team":"core","__proto__":"x","constructor":"y","n":1,"o":{}}') as Record<
      string,
      string
    >
    const annotations = { note: 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}' }
    const { object } = requestOf(admissionReview({ object: { labels, annotations } }))

    expect(Object.entries(object?.labels ?? {})).to.deep.equal([
      ['team', 'core'],
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
    expect(object?.annotations).to.deep.equal({ note: 'x' })
  })

  it('reads the storage class from either place', () => {
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'old' }
    const review = admissionReview({ object: { annotations } })
    expect(requestOf(review).object?.storageClassName).to.equal('old')

    const claim = review.request.object as { spec: Record<string, unknown> }
    claim.spec['storageClassName'] = 'new'

    expect(requestOf(review).object?.storageClassName).to.equal('new')
  })

  it('takes an empty text for an absent one, since Go writes both', () => {
    const { object, subResource } = requestOf(
      admissionReview({ subResource: '', object: { uid: '', resourceVersion: '', volumeName: '' } }),
    )

    expect(subResource).to.equal(undefined)
    expect(object).to.deep.include({ uid: undefined, resourceVersion: undefined, volumeName: undefined })
  })

  for (const [when, deletionTimestamp, deleting] of [
    ['a time stands there', '2026-11-30T00:00:00Z', true],
    ['nothing stands there', null, false],
  ] as const) {
    it(`says ${deleting ? '' : 'not '}deleting where ${when}`, () => {
      expect(requestOf(admissionReview({ object: { deletionTimestamp } })).object?.deleting).to.equal(deleting)
    })
  }

  for (const [what, body, problem] of [
    ['nothing', '', 'the body is not JSON'],
    ['garbage', '\u0000\u0001', 'the body is not JSON'],
    ['half a review', JSON.stringify(admissionReview()).slice(0, 100), 'the body is not JSON'],
    ['null', 'null', 'the body is not an AdmissionReview'],
    ['a list', '[]', 'the body is not an AdmissionReview'],
    ['a text', '"AdmissionReview"', 'the body is not an AdmissionReview'],
    ['no kind', '{}', 'kind must be AdmissionReview, not absent'],
    ['another kind', '{"kind":"Status"}', 'kind must be AdmissionReview, not "Status"'],
    ['a kind that is no text', '{"kind":{"a":1}}', 'kind must be AdmissionReview, not an object'],
    ['no version', '{"kind":"AdmissionReview"}', 'apiVersion must be admission.k8s.io/v1, not absent'],
    [
      'an older version',
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}',
      'apiVersion must be admission.k8s.io/v1, not "admission.k8s.io/v1beta1"',
    ],
    ['no request', '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', 'the review has no request'],
    ['a list of requests', JSON.stringify({ ...admissionReview(), request: [] }), 'the review has no request'],
    ['no uid', JSON.stringify(admissionReview({ uid: '' })), 'request.uid is missing'],
    [
      'a uid that is no text',
      JSON.stringify({ ...admissionReview(), request: { ...admissionReview().request, uid: 7 } }),
      'request.uid is missing',
    ],
    [
      'no operation',
      JSON.stringify({ ...admissionReview(), request: { ...admissionReview().request, operation: undefined } }),
      'request.operation is missing',
    ],
  ] as const) {
    it(`says what is wrong with ${what}`, () => {
      expect(problemOf(body)).to.include(problem)
    })
  }

  it('keeps what it says about a body short', () => {
    expect(problemOf(JSON.stringify({ kind: 'x'.repeat(100_000) }))).to.have.length.below(200)
  })

  it('answers for JSON of any depth, whatever stands there', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000)

    expect(problemOf(`{"kind":${deep}}`)).to.equal('kind must be AdmissionReview, not a list')
    expect(decodeReview(JSON.stringify(admissionReview()).replace('"data-0"', deep)).kind).to.equal('review')
  })

  it('never throws, whatever text it is given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (body) => {
        expect(decodeReview(body).kind).to.be.oneOf(['review', 'malformed'])
      }),
    )
  })

  it('never throws, whatever JSON stands in any field of a review', () => {
    const anything = fc.jsonValue({ depthSize: 'small' })
    const anyClaim = fc.oneof(
      anything,
      fc.record({
        metadata: fc.oneof(
          anything,
          fc.record(
            {
              namespace: anything,
              name: anything,
              uid: anything,
              resourceVersion: anything,
              deletionTimestamp: anything,
              labels: anything,
              annotations: anything,
            },
            { requiredKeys: [] },
          ),
        ),
        spec: fc.oneof(anything, fc.record({ volumeName: anything, storageClassName: anything })),
      }),
    )
    const anyRequest = fc.record(
      {
        uid: fc.oneof(fc.string(), anything),
        operation: fc.oneof(fc.string(), anything),
        resource: fc.oneof(anything, fc.record({ group: anything, resource: anything })),
        subResource: anything,
        dryRun: anything,
        object: anyClaim,
        oldObject: anyClaim,
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(anyRequest, (request) => {
        const body = JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request })
        expect(decodeReview(body).kind).to.be.oneOf(['review', 'malformed'])
      }),
    )
  })
})

describe('encodeAnswer', () => {
  it('carries the uid of the request and nothing that a validating webhook may not return', () => {
    expect(JSON.parse(encodeAnswer('review-1', allowed))).to.deep.equal({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: 'review-1', allowed: true },
    })
  })

  it('carries a patch in base64 with its type, and neither where there is none', () => {
    const response = (patch: Parameters<typeof encodeAnswer>[1]['patch']) =>
      (JSON.parse(encodeAnswer('review-1', { allowed: true, patch: patch ?? [] })) as { response: object }).response

    expect(response([])).to.deep.equal({ uid: 'review-1', allowed: true })
    expect(response([{ op: 'add', path: '/metadata/labels/a', value: 'ä' }])).to.deep.equal({
      uid: 'review-1',
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from('[{"op":"add","path":"/metadata/labels/a","value":"ä"}]').toString('base64'),
    })
  })

  it('gives a refusal its reason and warnings their place', () => {
    const answer = JSON.parse(
      encodeAnswer('review-1', { allowed: false, message: 'no', warnings: ['mind the gap'] }),
    ) as {
      response: object
    }

    expect(answer.response).to.deep.equal({
      uid: 'review-1',
      allowed: false,
      status: { code: 403, reason: 'Forbidden', message: 'no' },
      warnings: ['mind the gap'],
    })
  })
})
