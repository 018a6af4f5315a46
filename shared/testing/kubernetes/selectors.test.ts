import { expect } from 'chai'
import type { KubeObject } from './objects.ts'
import { labelsMatch, parseFieldSelector, parseLabelSelector } from './selectors.ts'

const labels = { team: 'core', tier: 'db' }
const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'shop', uid: '1', resourceVersion: '1', creationTimestamp: '', labels },
}

const labelCases: readonly (readonly [selector: string, selected: boolean])[] = [
  ['team=core', true],
  ['team==core,tier=db', true],
  ['team=edge', false],
  ['team!=edge', true],
  ['none!=x', true],
  ['team in (edge, core)', true],
  ['team notin (edge,core)', false],
  ['none notin (x),tier', true],
  ['none', false],
  ['!none', true],
  ['!team', false],
]

const fieldCases: readonly (readonly [selector: string, selected: boolean])[] = [
  ['metadata.name=data', true],
  ['metadata.name==other', false],
  ['metadata.name!=other,metadata.namespace=shop', true],
]

const objectCases: readonly (readonly [what: string, selector: unknown, selected: boolean])[] = [
  ['nothing', undefined, true],
  ['an empty selector', {}, true],
  ['equal labels', { matchLabels: { team: 'core' } }, true],
  ['other labels', { matchLabels: { team: 'edge' } }, false],
  ['In', { matchExpressions: [{ key: 'team', operator: 'In', values: ['core'] }] }, true],
  ['NotIn', { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['core'] }] }, false],
  ['NotIn on a missing label', { matchExpressions: [{ key: 'none', operator: 'NotIn', values: ['x'] }] }, true],
  ['Exists', { matchExpressions: [{ key: 'none', operator: 'Exists' }] }, false],
  ['DoesNotExist', { matchExpressions: [{ key: 'none', operator: 'DoesNotExist' }] }, true],
]

describe('selectors', () => {
  for (const [selector, selected] of labelCases) {
    it(`label selector ${selector} ${selected ? 'takes' : 'leaves'} the object`, () => {
      expect(parseLabelSelector(selector)(object)).to.equal(selected)
    })
  }

  for (const [selector, selected] of fieldCases) {
    it(`field selector ${selector} ${selected ? 'takes' : 'leaves'} the object`, () => {
      expect(parseFieldSelector(selector)(object)).to.equal(selected)
    })
  }

  for (const [what, selector, selected] of objectCases) {
    it(`a LabelSelector with ${what} ${selected ? 'matches' : 'does not match'}`, () => {
      expect(labelsMatch(selector, labels)).to.equal(selected)
    })
  }

  it('knows no field but name and namespace, as for claims and volumes', () => {
    expect(() => parseFieldSelector('status.phase=Bound')).to.throw('"status.phase" is not a known field selector')
  })

  it('refuses a label selector that it cannot read', () => {
    expect(() => parseLabelSelector('a===b')).to.throw('unable to parse requirement')
  })
})
