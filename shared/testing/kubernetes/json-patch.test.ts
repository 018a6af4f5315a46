import { expect } from 'chai'
import { ApiStatusError } from './api-status.ts'
import { applyJsonPatch } from './json-patch.ts'

const document = { metadata: { labels: { team: 'core' }, finalizers: ['a', 'b'] } }

interface Case {
  readonly when: string
  readonly operations: unknown
  /** What becomes of `metadata`, or the code of the refusal. */
  readonly gives: object | number
}

const { labels, finalizers } = document.metadata

// Each tried on kube-apiserver 1.34.4.
const cases: readonly Case[] = [
  {
    when: 'a test holds',
    operations: [{ op: 'test', path: '/metadata/labels/team', value: 'core' }],
    gives: { labels, finalizers },
  },
  { when: 'a test does not hold', operations: [{ op: 'test', path: '/metadata/labels/team', value: 'x' }], gives: 422 },
  {
    when: 'a missing key is tested against null',
    operations: [{ op: 'test', path: '/metadata/labels/none', value: null }],
    gives: { labels, finalizers },
  },
  {
    when: 'a key of a missing map is tested against null',
    operations: [{ op: 'test', path: '/metadata/annotations/none', value: null }],
    gives: 422,
  },
  {
    when: 'a missing map is tested against null and added',
    operations: [
      { op: 'test', path: '/metadata/annotations', value: null },
      { op: 'add', path: '/metadata/annotations', value: { a: 'b' } },
    ],
    gives: { labels, finalizers, annotations: { a: 'b' } },
  },
  {
    when: 'something is added below a missing map',
    operations: [{ op: 'add', path: '/metadata/annotations/a', value: 'b' }],
    gives: 422,
  },
  {
    when: 'a missing key is replaced',
    operations: [{ op: 'replace', path: '/metadata/labels/new', value: 'x' }],
    gives: { labels: { ...labels, new: 'x' }, finalizers },
  },
  { when: 'a missing key is removed', operations: [{ op: 'remove', path: '/metadata/labels/none' }], gives: 422 },
  {
    when: 'a missing key is copied',
    operations: [{ op: 'copy', from: '/metadata/labels/none', path: '/metadata/labels/new' }],
    gives: { labels: { ...labels, new: null }, finalizers },
  },
  {
    when: 'a missing key is moved',
    operations: [{ op: 'move', from: '/metadata/labels/none', path: '/metadata/labels/new' }],
    gives: 422,
  },
  {
    when: 'a key is moved to a name with a slash and a tilde',
    operations: [{ op: 'move', from: '/metadata/labels/team', path: '/metadata/labels/a~1b~0c' }],
    gives: { labels: { 'a/b~c': 'core' }, finalizers },
  },
  {
    when: 'lists are inserted into and appended to',
    operations: [
      { op: 'add', path: '/metadata/finalizers/0', value: 'first' },
      { op: 'add', path: '/metadata/finalizers/-', value: 'last' },
    ],
    gives: { labels, finalizers: ['first', 'a', 'b', 'last'] },
  },
  {
    when: 'list entries are replaced and removed',
    operations: [
      { op: 'replace', path: '/metadata/finalizers/0', value: 'z' },
      { op: 'remove', path: '/metadata/finalizers/1' },
    ],
    gives: { labels, finalizers: ['z'] },
  },
  {
    when: 'an index lies beyond the list',
    operations: [{ op: 'add', path: '/metadata/finalizers/9', value: 'z' }],
    gives: 422,
  },
  { when: 'the operation is unknown', operations: [{ op: 'merge', path: '/metadata' }], gives: 422 },
  { when: 'a pointer has no slash in front', operations: [{ op: 'remove', path: 'metadata' }], gives: 422 },
  { when: 'the patch is no list', operations: { op: 'remove' }, gives: 400 },
  { when: 'the patch is a list of something else', operations: [1], gives: 400 },
]

describe('applyJsonPatch', () => {
  for (const { when, operations, gives } of cases) {
    it(`gives ${typeof gives === 'number' ? `a ${gives}` : 'the patched object'} when ${when}`, () => {
      const outcome = patchOrCode(operations)

      expect(outcome).to.deep.equal(gives)
    })
  }

  it('leaves the document as it was', () => {
    const before = structuredClone(document)

    applyJsonPatch(document, [{ op: 'remove', path: '/metadata/labels/team' }])

    expect(document).to.deep.equal(before)
  })

  it('does not say which operation failed, as the API server does not', () => {
    const patch = [{ op: 'test', path: '/metadata/labels/team', value: 'x' }]

    expect(() => applyJsonPatch(document, patch)).to.throw(
      ApiStatusError,
      'the server rejected our request due to an error in our request',
    )
  })
})

function patchOrCode(operations: unknown): unknown {
  try {
    return applyJsonPatch(document, operations)['metadata']
  } catch (error) {
    return error instanceof ApiStatusError ? error.code : error
  }
}
