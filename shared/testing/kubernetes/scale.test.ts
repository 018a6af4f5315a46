import { expect } from 'chai'
import { EmbeddedKubernetes } from './embedded-kubernetes.ts'
import { PlainClient } from './plain-client.ts'

// Bounds are several times what a slow machine needs: they catch quadratic work, not a busy neighbour.
describe('EmbeddedKubernetes with 10,000 bound claims', () => {
  const pairs = 10_000
  let server: EmbeddedKubernetes
  let client: PlainClient

  before(async () => {
    server = await EmbeddedKubernetes.start({ volumeController: {} })
    client = new PlainClient(server)
    for (let i = 0; i < pairs; i++) {
      server.seedBoundClaim(
        { namespace: `app-${i % 50}`, name: `data-${i}`, labels: { app: `app-${i % 50}` } },
        `vol-${i}`,
      )
    }
  })

  after(async () => {
    client.close()
    await server.stop()
  })

  it('lists them all in pages of 500 within seconds', async () => {
    const startedMs = performance.now()
    let items = 0
    let token = ''
    do {
      const { body } = await client.get(`/api/v1/persistentvolumeclaims?limit=500&continue=${token}`)
      const { continue: next = '' } = body['metadata'] as { continue?: string }
      items += (body['items'] as unknown[]).length
      token = next
    } while (token !== '')

    expect(items).to.equal(pairs)
    expect(performance.now() - startedMs).to.be.below(5000)
  })

  it('takes a thousand patches within seconds, and shows each to a watch', async () => {
    const { body: page } = await client.get('/api/v1/persistentvolumes?limit=1')
    const { resourceVersion } = page['metadata'] as { resourceVersion: string }
    const watch = await client.watch(`/api/v1/persistentvolumes?watch=true&resourceVersion=${resourceVersion}`)
    const names = server
      .list('persistentvolumes')
      .slice(0, 1000)
      .map(({ metadata }) => metadata.name)
    const startedMs = performance.now()

    const body = { metadata: { annotations: { 'k8s-cloud-tagger/applied': 'x'.repeat(500) } } }
    for (let i = 0; i < names.length; i += 20) {
      await Promise.all(names.slice(i, i + 20).map((name) => client.patch(`/api/v1/persistentvolumes/${name}`, body)))
    }
    const events = await watch.take(names.length)
    watch.close()

    expect(events.every(({ type }) => type === 'MODIFIED')).to.be.true
    expect(performance.now() - startedMs).to.be.below(8000)
  })

  it('binds a thousand new claims within seconds', async () => {
    const names = Array.from({ length: 1000 }, (_, i) => `new-${i}`)
    const startedMs = performance.now()
    const watch = await client.watch('/api/v1/namespaces/default/persistentvolumeclaims?watch=true')

    for (const name of names) await server.createClaim({ name, storageClassName: 'gp3' })
    await Promise.all(names.map((name) => server.provision('default', name, { handle: `vol-${name}` })))
    const bound = new Set<string>()
    while (bound.size < names.length) {
      const { object } = await watch.next()
      if (object.status?.['phase'] === 'Bound') bound.add(object.metadata.name)
    }
    watch.close()

    expect(performance.now() - startedMs).to.be.below(8000)
  })
})
