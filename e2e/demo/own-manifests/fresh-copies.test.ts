import { expect } from 'chai'
import { freshClaim, freshVolume } from './fresh-copies.ts'
import type { OwnObject } from './own-objects.ts'

function object(overrides: Partial<OwnObject>): OwnObject {
  return {
    where: 'a.yaml',
    name: 'data',
    namespace: 'shop',
    metadata: { labels: {}, annotations: {} },
    uid: undefined,
    spec: {},
    provisioner: undefined,
    ...overrides,
  }
}

const wasBound = { labels: { team: 'core' }, annotations: { 'pv.kubernetes.io/bind-completed': 'yes', note: 'mine' } }

describe('a claim of a person’s own', () => {
  it('is created as it was before its binding', () => {
    const claim = object({ metadata: wasBound, spec: { volumeName: 'pv-1' } })

    const copy = freshClaim(claim, [object({ name: 'pv-1', namespace: '' })])

    expect(copy.metadata.annotations).to.deep.equal({ note: 'mine' })
    expect(copy['spec']).to.deep.equal({ volumeName: 'pv-1' })
  })

  it('gets a new volume where it was bound to one that is not among the files', () => {
    const claim = object({ metadata: wasBound, spec: { volumeName: 'pv-1' } })

    expect(freshClaim(claim, [])['spec']).to.deep.equal({})
  })

  it('goes on waiting for a volume that it names and that nobody has', () => {
    const claim = object({ spec: { volumeName: 'pv-1' } })

    expect(freshClaim(claim, [])['spec']).to.deep.equal({ volumeName: 'pv-1' })
  })
})

describe('a volume of a person’s own', () => {
  const claimRef = { namespace: 'shop', name: 'data', uid: 'u-1', resourceVersion: '7' }
  const volume = object({ name: 'pv-1', namespace: '', spec: { claimRef } })

  it('stays with its claim, which has a new uid', () => {
    const copy = freshVolume(volume, [object({ uid: 'u-1' })])

    expect(copy['spec']).to.deep.equal({ claimRef: { namespace: 'shop', name: 'data' } })
  })

  it('stays that of another claim where the uids differ', () => {
    const copy = freshVolume(volume, [object({ uid: 'u-2' })])

    expect(copy['spec']).to.deep.equal({ claimRef })
  })
})
