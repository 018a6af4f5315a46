import { expect } from 'chai'
import { FakeClock } from '../fake-clock.ts'
import { EmbeddedKubernetes } from './embedded-kubernetes.ts'
import { PlainClient } from './plain-client.ts'

const claims = '/api/v1/persistentvolumeclaims'
const tagger = 'system:serviceaccount:tagger:webhook'

describe('what a test can do to a client', () => {
  let server: EmbeddedKubernetes
  let admin: PlainClient
  let client: PlainClient
  let clock: FakeClock

  beforeEach(async () => {
    clock = new FakeClock()
    server = await EmbeddedKubernetes.start({ clock, users: [{ name: tagger }], maxInFlightPerUser: 2, logSize: 5 })
    admin = new PlainClient(server)
    client = new PlainClient(server, tagger)
    await server.createVolume({ name: 'pv-1' })
  })

  afterEach(async () => {
    admin.close()
    client.close()
    await server.stop()
  })

  describe('access', () => {
    it('is refused with an unknown token, and with a revoked one', async () => {
      const token = server.users.tokenOf(tagger)
      const withToken = new PlainClient(server, tagger, token)
      const withNonsense = new PlainClient(server, tagger, 'nonsense')

      const before = await withToken.get(claims)
      server.users.revoke(tagger)
      const after = await withToken.get(claims)
      const never = await withNonsense.get(claims)

      expect([before.code, after.code, never.code]).to.deep.equal([200, 401, 401])
      expect(after.body).to.include({ kind: 'Status', reason: 'Unauthorized' })
      withToken.close()
      withNonsense.close()
    })

    it('makes a service account member of its groups', () => {
      const user = server.users.authenticate(`Bearer ${server.users.tokenOf(tagger)}`)

      expect(user?.groups).to.deep.equal([
        'system:serviceaccounts',
        'system:serviceaccounts:tagger',
        'system:authenticated',
      ])
    })

    it('is governed by rules that can be taken away and given back', async () => {
      server.users.setRules(tagger, [
        { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get', 'list', 'watch'] },
      ])

      const patch = await client.patch('/api/v1/persistentvolumes/pv-1', { metadata: { labels: { a: '1' } } })
      const get = await client.get('/api/v1/persistentvolumes/pv-1')
      server.users.setRules(tagger, undefined)
      const again = await client.patch('/api/v1/persistentvolumes/pv-1', { metadata: { labels: { a: '1' } } })

      expect([patch.code, get.code, again.code]).to.deep.equal([403, 200, 200])
      expect(patch.body['message']).to.equal(
        `persistentvolumes "pv-1" is forbidden: User "${tagger}" cannot patch resource "persistentvolumes" ` +
          'in API group "" at the cluster scope',
      )
    })

    it('can be limited to a namespace, a name or a subresource', async () => {
      server.users.setRules(tagger, [
        { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['list'], namespace: 'default' },
        { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get'], resourceNames: ['pv-1'] },
        { apiGroups: [''], resources: ['persistentvolumes/status'], verbs: ['*'] },
      ])
      const code = async (path: string): Promise<number> => (await client.get(`/api/v1/${path}`)).code

      expect(await code('namespaces/default/persistentvolumeclaims')).to.equal(200)
      expect(await code('persistentvolumeclaims')).to.equal(403)
      expect(await code('persistentvolumes/pv-1')).to.equal(200)
      expect(await code('persistentvolumes/pv-2')).to.equal(403)
      expect(await code('persistentvolumes/pv-2/status')).to.equal(404)
    })
  })

  describe('a user with too many calls in flight', () => {
    it('gets 429 in plain text with Retry-After, watches apart and other users unharmed', async () => {
      const free = holdRequests()
      const watch = await client.watch(`${claims}?watch=true`)
      const held = [client.get(claims), client.get(claims)]
      await free.reached(2)

      const refused = await client.get(claims)
      const other = admin.get(claims)
      free.release()

      expect(refused.code).to.equal(429)
      expect(refused.headers['retry-after']).to.equal('1')
      expect(refused.body).to.deep.equal({ text: 'Too many requests, please try again later.\n' })
      expect((await other).code).to.equal(200)
      expect((await Promise.all(held)).map(({ code }) => code)).to.deep.equal([200, 200])
      expect(server.limit.refused).to.equal(1)
      expect(server.limit.peakOf(tagger)).to.equal(2)
      expect((await client.get(claims)).code).to.equal(200)
      watch.close()
    })
  })

  describe('scripted faults', () => {
    it('answer the next matching requests with a status, then no more', async () => {
      server.failNext(2, ({ verb }) => verb === 'list', { kind: 'status', code: 500 })

      const get = await client.get('/api/v1/persistentvolumes/pv-1')
      const lists = [await client.get(claims), await client.get(claims), await client.get(claims)]

      expect(get.code).to.equal(200)
      expect(lists.map(({ code }) => code)).to.deep.equal([500, 500, 200])
      expect(lists[0]?.body).to.include({ kind: 'Status', reason: 'InternalError' })
      expect(server.faults.unused).to.equal(0)
    })

    it('can say when to come back', async () => {
      server.failNext(1, () => true, { kind: 'status', code: 429, retryAfterSeconds: 7 })

      const { code, headers } = await client.get(claims)

      expect([code, headers['retry-after']]).to.deep.equal([429, '7'])
    })

    it('drop the connection before the write, or lose the answer after it', async () => {
      const relabel = (value: string): Promise<string> =>
        client.patch('/api/v1/persistentvolumes/pv-1', { metadata: { labels: { value } } }).then(
          () => 'answered',
          () => 'no answer',
        )
      const stored = (): unknown => server.get('persistentvolumes', 'pv-1')?.metadata.labels
      server.failNext(1, ({ verb }) => verb === 'patch', { kind: 'drop' })
      server.failNext(1, ({ verb }) => verb === 'patch', { kind: 'lose-answer' })

      expect(await relabel('1')).to.equal('no answer')
      expect(stored()).to.be.undefined
      expect(await relabel('2')).to.equal('no answer')
      expect(stored()).to.deep.equal({ value: '2' })
    })

    it('hang until the server stops, or answer late', async () => {
      server.failNext(1, () => true, { kind: 'hang' })
      server.failNext(1, () => true, { kind: 'delay', delayMs: 1000 })
      const outcomes: string[] = []
      const hanging = client.get(claims).then(
        () => outcomes.push('answered'),
        () => outcomes.push('broken'),
      )
      await seen(1)
      const late = client.get(claims).then(() => outcomes.push('late'))
      await seen(2)

      await clock.step(1000)
      await late
      expect(outcomes).to.deep.equal(['late'])
      await server.stop()
      await hanging

      expect(outcomes).to.deep.equal(['late', 'broken'])
      server = await EmbeddedKubernetes.start()
    })
  })

  describe('hooks', () => {
    it('are called before the store changes and after it, before the client knows', async () => {
      const labels: unknown[] = []
      const off = server.onRequest((moment, { verb }) => {
        if (verb === 'patch') labels.push([moment, server.get('persistentvolumes', 'pv-1')?.metadata.labels])
      })

      await client.patch('/api/v1/persistentvolumes/pv-1', { metadata: { labels: { a: '1' } } })
      off()
      await client.patch('/api/v1/persistentvolumes/pv-1', { metadata: { labels: { a: '2' } } })

      expect(labels).to.deep.equal([
        ['before', undefined],
        ['after', { a: '1' }],
      ])
    })
  })

  describe('the request log', () => {
    it('counts by user, verb and resource, past the entries that it keeps', async () => {
      for (let i = 0; i < 12; i++) await client.get('/api/v1/persistentvolumes/pv-1')
      await admin.patch('/api/v1/persistentvolumes/pv-1/status', { status: { phase: 'Available' } })

      expect(server.log.count()).to.equal(13)
      expect(server.log.count({ user: tagger, verb: 'get', resource: 'persistentvolumes' })).to.equal(12)
      expect(server.log.count({ verb: 'patch', resource: 'persistentvolumes/status' })).to.equal(1)
      expect(server.log.entries).to.have.length(5)
      expect(server.log.entries.at(-1)).to.include({ verb: 'patch', name: 'pv-1', subresource: 'status', code: 200 })
      expect(server.log.entries.at(-1)?.body).to.deep.equal({ status: { phase: 'Available' } })
      server.log.reset()
      expect(server.log.count()).to.equal(0)
    })

    it('says how many TLS connections were made', async () => {
      const before = server.connections

      for (let i = 0; i < 3; i++) await client.get(claims)

      expect(server.connections - before).to.equal(1)
    })
  })

  /** Resolves when so many requests have come. */
  async function seen(count: number): Promise<void> {
    while (server.log.count() < count) await new Promise((resolve) => setImmediate(resolve))
  }

  function holdRequests(): { reached: (count: number) => Promise<void>; release: () => void } {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    server.onRequest((moment, { verb }) => (moment === 'before' && verb === 'list' ? held : undefined))
    return { reached: (count) => seen(count + 1), release }
  }
})
