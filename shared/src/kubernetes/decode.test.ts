import { expect } from 'chai'
import { decodeClaim, decodeNamespace, decodeVolume, type Decoded } from './decode.ts'

const created = '2026-01-01T00:00:00Z'

function claimJson(overrides: { metadata?: object; spec?: unknown } = {}): object {
  return {
    metadata: {
      name: 'data-0',
      namespace: 'db',
      uid: 'u1',
      resourceVersion: '7',
      creationTimestamp: created,
      ...overrides.metadata,
    },
    spec: overrides.spec ?? { volumeName: 'pv-1', storageClassName: 'gp3' },
  }
}

function volumeJson(overrides: { metadata?: object; spec?: object } = {}): object {
  return {
    metadata: { name: 'pv-1', uid: 'v1', resourceVersion: '8', creationTimestamp: created, ...overrides.metadata },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      nodeAffinity: { required: {} },
      claimRef: { namespace: 'db', name: 'data-0', uid: 'u1' },
      ...overrides.spec,
    },
  }
}

function valueOf<T>(decoded: Decoded<T>): T {
  if (!decoded.ok) throw new Error(decoded.reason)
  return decoded.value
}

describe('decodeClaim', () => {
  it('takes the fields that we read', () => {
    const claim = valueOf(
      decodeClaim(
        claimJson({ metadata: { labels: { team: 'core' }, annotations: { note: 'x' }, managedFields: [{}] } }),
      ),
    )

    expect(claim).to.deep.equal({
      key: 'db/data-0',
      namespace: 'db',
      name: 'data-0',
      uid: 'u1',
      resourceVersion: '7',
      createdAtMs: Date.UTC(2026, 0, 1),
      labels: { team: 'core' },
      annotations: { note: 'x' },
      volumeName: 'pv-1',
      storageClassName: 'gp3',
      deleting: false,
    })
  })

  it('has no volume while the claim is not bound', () => {
    expect(valueOf(decodeClaim(claimJson({ spec: { volumeName: '' } }))).volumeName).to.be.undefined
    expect(valueOf(decodeClaim(claimJson({ spec: 'odd' }))).volumeName).to.be.undefined
  })

  it('finds the class in the old annotation, and prefers the field', () => {
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'gp2' }

    expect(valueOf(decodeClaim(claimJson({ metadata: { annotations }, spec: {} }))).storageClassName).to.equal('gp2')
    expect(valueOf(decodeClaim(claimJson({ metadata: { annotations } }))).storageClassName).to.equal('gp3')
    expect(valueOf(decodeClaim(claimJson({ spec: {} }))).storageClassName).to.be.undefined
  })

  it('sees a claim that is being deleted', () => {
    expect(valueOf(decodeClaim(claimJson({ metadata: { deletionTimestamp: created } }))).deleting).to.be.true
  })

  it('takes labels by their own names only, whatever they are called', () => {
    const text = JSON.stringify(claimJson({ metadata: { labels: { constructor: 'c', toString: 't', p: 'x' } } }))
    const { labels } = valueOf(decodeClaim(JSON.parse(text.replace('"p":', '"__proto__":'))))

    expect(new Map(Object.entries(labels))).to.deep.equal(
      new Map([
        ['constructor', 'c'],
        ['toString', 't'],
        ['__proto__', 'x'],
      ]),
    )
    expect(Object.hasOwn(labels, 'hasOwnProperty')).to.equal(false)
  })

  it('leaves out values that are no strings, and keeps empty ones', () => {
    const { labels } = valueOf(decodeClaim(claimJson({ metadata: { labels: { a: 1, b: null, c: '', d: 'x' } } })))

    expect({ ...labels }).to.deep.equal({ c: '', d: 'x' })
  })

  it("drops kubectl's copy of the object, or whatever the caller does not keep", () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', a: '1', b: '2' }
    const json = claimJson({ metadata: { annotations } })

    expect({ ...valueOf(decodeClaim(json)).annotations }).to.deep.equal({ a: '1', b: '2' })
    expect({ ...valueOf(decodeClaim(json, { keepAnnotation: (key) => key === 'b' })).annotations }).to.deep.equal({
      b: '2',
    })
  })

  it('does not change what it reads', () => {
    const json = claimJson({ metadata: { labels: { a: '1' } } })
    const before = structuredClone(json)

    decodeClaim(json)

    expect(json).to.deep.equal(before)
    expect(Object.getPrototypeOf((json as { metadata: { labels: object } }).metadata.labels)).to.equal(Object.prototype)
  })
})

describe('decodeVolume', () => {
  const csi = { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1' }

  it('knows the zones that labels or node affinity name, and survives affinities of any form', () => {
    const labels = { 'failure-domain.beta.kubernetes.io/zone': 'a__b' }
    const matchExpressions = [{ key: 'topology.gke.io/zone', operator: 'In', values: ['z', 5] }, null, { key: 1 }]
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }, {}, 'odd'] } }

    expect(valueOf(decodeVolume(volumeJson({ metadata: { labels }, spec: { csi } }))).zones).to.deep.equal(['a', 'b'])
    expect(valueOf(decodeVolume(volumeJson({ spec: { csi, nodeAffinity } }))).zones).to.deep.equal(['z'])
    expect(valueOf(decodeVolume(volumeJson({ spec: { csi, nodeAffinity: 'odd' } }))).zones).to.deep.equal([])
  })

  const sources: { when: string; spec: object; source: object }[] = [
    { when: 'csi', spec: { csi }, source: { kind: 'csi', driver: 'ebs.csi.aws.com', handle: 'vol-1' } },
    {
      when: 'in-tree EBS',
      spec: { awsElasticBlockStore: { volumeID: 'aws://eu-west-1a/vol-0abc' } },
      source: { kind: 'awsElasticBlockStore', volumeId: 'aws://eu-west-1a/vol-0abc' },
    },
    { when: 'hostPath', spec: { hostPath: { path: '/x' } }, source: { kind: 'other', type: 'hostPath', detail: '/x' } },
    {
      when: 'nfs, by its path',
      spec: { nfs: { server: 'fs', path: '/export' } },
      source: { kind: 'other', type: 'nfs', detail: '/export' },
    },
    {
      when: 'in-tree GCE',
      spec: { gcePersistentDisk: { pdName: 'x' } },
      source: { kind: 'gcePersistentDisk', pdName: 'x' },
    },
    {
      when: 'in-tree Azure',
      spec: { azureDisk: { diskName: 'x', diskURI: '/subscriptions/s' } },
      source: { kind: 'azureDisk', diskUri: '/subscriptions/s' },
    },
    { when: 'a source without detail', spec: { rbd: {} }, source: { kind: 'other', type: 'rbd', detail: undefined } },
    {
      when: 'csi without a handle',
      spec: { csi: { driver: 'd' } },
      source: { kind: 'other', type: 'csi', detail: 'd' },
    },
    { when: 'no source', spec: {}, source: { kind: 'other', type: 'none', detail: undefined } },
  ]
  for (const { when, spec, source } of sources) {
    it(`knows the source when it is ${when}`, () => {
      expect(valueOf(decodeVolume(volumeJson({ spec }))).source).to.deep.equal(source)
    })
  }

  it('takes our record and the provisioner from the annotations', () => {
    const annotations = { 'k8s-cloud-tagger/applied': '{}', 'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com' }

    expect(valueOf(decodeVolume(volumeJson({ metadata: { annotations } })))).to.include({
      applied: '{}',
      provisionedBy: 'ebs.csi.aws.com',
    })
    expect(valueOf(decodeVolume(volumeJson()))).to.include({ applied: undefined, provisionedBy: undefined })
  })

  it('has a claim reference with or without a uid, or none', () => {
    const claimRefOf = (claimRef: unknown) => valueOf(decodeVolume(volumeJson({ spec: { claimRef } }))).claimRef

    expect(claimRefOf({ namespace: 'n', name: 'c', uid: 'u' })).to.deep.equal({ namespace: 'n', name: 'c', uid: 'u' })
    expect(claimRefOf({ namespace: 'n', name: 'c' })).to.deep.equal({ namespace: 'n', name: 'c', uid: undefined })
    expect(claimRefOf(null)).to.be.undefined
    expect(claimRefOf({ name: 'c' })).to.be.undefined
  })
})

describe('decodeNamespace', () => {
  it('takes labels', () => {
    const metadata = {
      name: 'db',
      uid: 'n1',
      resourceVersion: '3',
      creationTimestamp: created,
      labels: { env: 'prod' },
    }

    expect(valueOf(decodeNamespace({ metadata }))).to.deep.equal({
      name: 'db',
      uid: 'n1',
      resourceVersion: '3',
      labels: { env: 'prod' },
      deleting: false,
    })
  })
})

describe('decoding odd objects', () => {
  const decoders = { claim: decodeClaim, volume: decodeVolume, namespace: decodeNamespace }
  const odd: { object: unknown; reason: string }[] = [
    { object: undefined, reason: 'metadata is missing' },
    { object: null, reason: 'metadata is missing' },
    { object: 'text', reason: 'metadata is missing' },
    { object: [], reason: 'metadata is missing' },
    { object: { metadata: 3 }, reason: 'metadata is missing' },
    { object: { metadata: {} }, reason: 'metadata.name is missing' },
    { object: { metadata: { name: 7 } }, reason: 'metadata.name is missing' },
    { object: { metadata: { name: 'a' } }, reason: 'metadata.uid is missing' },
    { object: { metadata: { name: 'a', uid: 'u' } }, reason: 'metadata.resourceVersion is missing' },
    {
      object: { metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: 'yesterday' } },
      reason: 'metadata.creationTimestamp is missing',
    },
  ]
  for (const [name, decode] of Object.entries(decoders)) {
    for (const { object, reason } of odd) {
      it(`gives the reason instead of a ${name} for ${JSON.stringify(object)}`, () => {
        expect(decode(object)).to.deep.equal({ ok: false, reason })
      })
    }
  }

  it('asks for a namespace on claims and a spec on volumes', () => {
    const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: created }

    expect(decodeClaim({ metadata })).to.deep.equal({ ok: false, reason: 'metadata.namespace is missing' })
    expect(decodeVolume({ metadata })).to.deep.equal({ ok: false, reason: 'spec is missing' })
  })
})
