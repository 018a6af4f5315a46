import { expect } from 'chai'
import { ownObjects } from './own-objects.ts'

function read(...objects: readonly object[]) {
  return ownObjects(objects.map((object, index) => ({ where: `file-${index + 1}.yaml`, object })))
}

const claim = { kind: 'PersistentVolumeClaim', metadata: { name: 'data', labels: { team: 'core' } }, spec: {} }

describe('objects of a person’s own', () => {
  it('are claims of the namespace default unless they say otherwise', () => {
    const { claims } = read(claim, { ...claim, metadata: { name: 'data', namespace: 'shop' } })

    expect(claims.map(({ namespace, name }) => `${namespace}/${name}`)).to.deep.equal(['default/data', 'shop/data'])
  })

  it('are left out, and counted, where they are of other kinds', () => {
    const { leftOut, problems } = read(claim, { kind: 'Deployment' }, { kind: 'Deployment' })

    expect([...leftOut]).to.deep.equal([['Deployment', 2]])
    expect(problems).to.deep.equal([])
  })

  it('may be a set, which gives a claim for each template and replica, with the selector’s labels', () => {
    const { claims } = read({
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: 'shop' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'db' } },
        volumeClaimTemplates: [{ metadata: { name: 'data', labels: { tier: 'gold' } }, spec: {} }],
      },
    })

    expect(claims.map(({ name }) => name)).to.deep.equal(['data-db-0', 'data-db-1'])
    expect(claims[0]?.metadata.labels).to.deep.equal({ tier: 'gold', app: 'db' })
  })

  const wrong = [
    {
      when: 'a label is a number',
      object: { ...claim, metadata: { name: 'a', labels: { version: 1 } } },
      says: 'metadata.labels.version: 1 is no string; put it in quotes',
    },
    { when: 'the name is missing', object: { ...claim, metadata: {} }, says: 'metadata.name is missing, or no string' },
    { when: 'the spec is missing', object: { ...claim, spec: undefined }, says: 'spec is missing' },
    {
      when: 'the labels are a list',
      object: { ...claim, metadata: { name: 'a', labels: [] } },
      says: 'metadata.labels is no map',
    },
  ]
  for (const { when, object, says } of wrong) {
    it(`are named with place and reason when ${when}`, () => {
      expect(read(object).problems).to.deep.equal([`file-1.yaml: PersistentVolumeClaim: ${says}`])
    })
  }

  it('are named where they are no Kubernetes object, or there twice', () => {
    expect(read({ foo: 'bar' }).problems).to.deep.equal(['file-1.yaml: is no Kubernetes object, it has no kind'])
    expect(read(claim, claim).problems).to.deep.equal(['file-2.yaml: default/data is in file-1.yaml already'])
  })
})
