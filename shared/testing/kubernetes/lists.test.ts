import { expect } from 'chai'
import { EmbeddedKubernetes } from './embedded-kubernetes.ts'
import type { KubeObject } from './objects.ts'
import { type PlainAnswer, PlainClient } from './plain-client.ts'

const claims = '/api/v1/persistentvolumeclaims'

describe('lists', () => {
  let server: EmbeddedKubernetes
  let client: PlainClient

  beforeEach(async () => {
    server = await EmbeddedKubernetes.start()
    client = new PlainClient(server)
    for (const [namespace, name] of [
      ['b', 'one'],
      ['a', 'two'],
      ['a', 'one'],
      ['a-c', 'one'],
      ['c', 'one'],
    ] as const) {
      await server.createClaim({ namespace, name, labels: { in: namespace } })
    }
  })

  afterEach(async () => {
    client.close()
    await server.stop()
  })

  it('come in the order of the keys in etcd, items without kind', async () => {
    const { body } = await client.get(claims)

    // In the key the namespace ends with a slash, which comes after a hyphen.
    expect(keysOf(body)).to.deep.equal(['a-c/one', 'a/one', 'a/two', 'b/one', 'c/one'])
    expect(body['kind']).to.equal('PersistentVolumeClaimList')
    expect(itemsOf(body)[0]).to.not.have.property('kind')
  })

  it('can be of one namespace, of one name, or of a label', async () => {
    expect(keysOf((await client.get('/api/v1/namespaces/a/persistentvolumeclaims')).body)).to.deep.equal([
      'a/one',
      'a/two',
    ])
    expect(keysOf((await client.get(`${claims}?fieldSelector=metadata.name%3Dtwo`)).body)).to.deep.equal(['a/two'])
    expect(keysOf((await client.get(`${claims}?labelSelector=in%3Db`)).body)).to.deep.equal(['b/one'])
  })

  it('come in pages that all show the state of the first', async () => {
    const first = await client.get(`${claims}?limit=2`)
    await server.createClaim({ namespace: 'b', name: 'zero' })
    await server.delete('persistentvolumeclaims', 'one', 'c')
    await server.setLabels('b', 'one', { changed: 'yes' })

    const second = await client.get(`${claims}?limit=2&continue=${tokenOf(first)}`)
    const third = await client.get(`${claims}?limit=2&continue=${tokenOf(second)}`)

    expect([first, second, third].map(({ body }) => keysOf(body))).to.deep.equal([
      ['a-c/one', 'a/one'],
      ['a/two', 'b/one'],
      ['c/one'],
    ])
    expect(itemsOf(second.body)[1]?.metadata.labels).to.not.have.property('changed')
    expect([first, second, third].map(({ body }) => metadataOf(body)['remainingItemCount'])).to.deep.equal([
      3,
      1,
      undefined,
    ])
    expect(new Set([first, second, third].map(({ body }) => metadataOf(body)['resourceVersion'])).size).to.equal(1)
    expect(tokenOf(third)).to.equal('')
  })

  it('answer a token that is too old with 410 and a token for the inconsistent rest', async () => {
    const first = await client.get(`${claims}?limit=2`)
    server.compact()

    const expired = await client.get(`${claims}?limit=2&continue=${tokenOf(first)}`)
    const rest = await client.get(`${claims}?continue=${tokenOf(expired)}`)

    expect(expired.code).to.equal(410)
    expect(expired.body['reason']).to.equal('Expired')
    expect(keysOf(rest.body)).to.deep.equal(['a/two', 'b/one', 'c/one'])
  })

  it('refuse a token that is none', async () => {
    expect((await client.get(`${claims}?continue=zz`)).code).to.equal(400)
  })

  it('know no pages from version 0, which is the watch cache', async () => {
    const { body } = await client.get(`${claims}?limit=2&resourceVersion=0`)

    expect(keysOf(body)).to.have.length(5)
  })

  it('refuse a version that is yet to come, and one that is no number', async () => {
    const future = await client.get(`${claims}?resourceVersion=99999`)

    expect(future.code).to.equal(504)
    expect(future.headers['retry-after']).to.equal('1')
    expect((await client.get(`${claims}?resourceVersion=x`)).code).to.equal(400)
  })
})

function itemsOf(body: PlainAnswer['body']): readonly KubeObject[] {
  return body['items'] as readonly KubeObject[]
}

function keysOf(body: PlainAnswer['body']): string[] {
  return itemsOf(body).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
}

function metadataOf(body: PlainAnswer['body']): Record<string, unknown> {
  return body['metadata'] as Record<string, unknown>
}

function tokenOf({ body }: PlainAnswer): string {
  const token = metadataOf(body)['continue']
  return typeof token === 'string' ? token : ''
}
