import { expect } from 'chai'
import { FakeClock } from '../fake-clock.ts'
import { EmbeddedKubernetes, type EmbeddedOptions } from './embedded-kubernetes.ts'
import { PlainClient, type WatchEvent } from './plain-client.ts'

const claims = '/api/v1/persistentvolumeclaims?watch=true'

describe('watches', () => {
  let server: EmbeddedKubernetes
  let client: PlainClient
  let clock: FakeClock

  const start = async (options: EmbeddedOptions = {}): Promise<void> => {
    clock = new FakeClock()
    server = await EmbeddedKubernetes.start({ clock, ...options })
    client = new PlainClient(server)
  }

  afterEach(async () => {
    client.close()
    await server.stop()
    expect(clock.pendingTimers).to.equal(0)
  })

  it('tell of every write after the version, those before the connection included', async () => {
    await start()
    const { metadata } = await server.createClaim({ name: 'data' })
    await server.setLabels('default', 'data', { a: '1' })

    const watch = await client.watch(`${claims}&resourceVersion=${metadata.resourceVersion}`)
    await server.delete('persistentvolumeclaims', 'data', 'default')

    const events = await watch.take(2)
    expect(events.map(({ type }) => type)).to.deep.equal(['MODIFIED', 'DELETED'])
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
    expect(versions).to.deep.equal([Number(metadata.resourceVersion) + 1, Number(metadata.resourceVersion) + 2])
    expect(events[0]?.object.kind).to.equal('PersistentVolumeClaim')
  })

  it('begin with all that is there when no version is given', async () => {
    await start()
    await server.createClaim({ name: 'data' })
    await server.createClaim({ name: 'other' })

    const watch = await client.watch(claims)

    expect((await watch.take(2)).map(nameAndType)).to.deep.equal(['ADDED data', 'ADDED other'])
    watch.close()
  })

  it('tell an object that enters a selection as added, and one that leaves it as deleted', async () => {
    await start()
    await server.createClaim({ name: 'data' })
    const watch = await client.watch(`${claims}&labelSelector=team%3Dcore&resourceVersion=${latest(server)}`)

    await server.setLabels('default', 'data', { team: 'core' })
    await server.setLabels('default', 'data', { tier: 'db' })
    await server.removeLabel('default', 'data', 'team')

    const events = await watch.take(3)
    expect(events.map(({ type }) => type)).to.deep.equal(['ADDED', 'MODIFIED', 'DELETED'])
    expect(events[2]?.object.metadata.labels).to.deep.equal({ team: 'core', tier: 'db' })
    watch.close()
  })

  it('can be of one namespace or one object', async () => {
    await start()
    const ofShop = await client.watch('/api/v1/namespaces/shop/persistentvolumeclaims?watch=1')
    const ofData = await client.watch(`${claims}&fieldSelector=metadata.name%3Ddata`)

    await server.createClaim({ name: 'data' })
    await server.createClaim({ namespace: 'shop', name: 'other' })
    await server.createClaim({ namespace: 'shop', name: 'data' })

    expect((await ofShop.take(2)).map(nameAndType)).to.deep.equal(['ADDED other', 'ADDED data'])
    expect((await ofData.take(2)).map(nameAndType)).to.deep.equal(['ADDED data', 'ADDED data'])
    ofShop.close()
    ofData.close()
  })

  it('send a bookmark about every minute to those who asked', async () => {
    await start()
    const asked = await client.watch(`${claims}&allowWatchBookmarks=true&resourceVersion=${latest(server)}`)
    const silent = await client.watch(`${claims}&resourceVersion=${latest(server)}`)
    await server.createVolume({ name: 'pv-1' })

    await clock.step(60_000)
    await clock.step(60_000)

    const [first, second] = await asked.take(2)
    expect(first?.type).to.equal('BOOKMARK')
    expect(first?.object).to.deep.equal({
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: { resourceVersion: String(latest(server)) },
    })
    expect(second?.type).to.equal('BOOKMARK')
    expect(silent.pending).to.equal(0)
    asked.close()
    silent.close()
    await Promise.all([asked.ended, silent.ended])
  })

  it('end when timeoutSeconds are over', async () => {
    await start()
    const watch = await client.watch(`${claims}&timeoutSeconds=30`)

    await clock.step(30_000)

    expect(await watch.ended).to.equal('complete')
  })

  it('answer a version older than the history with an ERROR event 410', async () => {
    await start({ historySize: 3 })
    await server.createClaim({ name: 'data' })
    for (let i = 0; i < 10; i++) await server.setLabels('default', 'data', { i: String(i) })

    const watch = await client.watch(`${claims}&resourceVersion=2`)

    const { type, object } = await watch.next()
    expect(watch.code).to.equal(200)
    expect(type).to.equal('ERROR')
    expect(object).to.include({ kind: 'Status', code: 410, reason: 'Expired' })
    expect(await watch.ended).to.equal('complete')
  })

  it('answer it with HTTP 410 when told so', async () => {
    await start({ goneAsHttpStatus: true })
    server.compact()

    const answer = await client.get(`${claims}&resourceVersion=2`)

    expect(answer.code).to.equal(410)
    expect(answer.body['reason']).to.equal('Expired')
  })

  it('can be watched on from the version at a compaction', async () => {
    await start()
    server.compact()

    const watch = await client.watch(`${claims}&resourceVersion=${latest(server) + 1}`)
    await server.createClaim({ name: 'data' })

    expect((await watch.next()).type).to.equal('ADDED')
    watch.close()
  })

  it('refuse sendInitialEvents like a server without WatchList', async () => {
    await start()

    const answer = await client.get(`${claims}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`)

    expect(answer.code).to.equal(422)
  })

  it('stream the initial state and mark its end on a server with WatchList', async () => {
    await start({ watchList: true })
    await server.createClaim({ name: 'data' })

    const watch = await client.watch(`${claims}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`)

    const [added, mark] = await watch.take(2)
    expect(added?.type).to.equal('ADDED')
    expect(mark?.type).to.equal('BOOKMARK')
    expect(mark?.object.metadata.annotations).to.deep.equal({ 'k8s.io/initial-events-end': 'true' })
    watch.close()
  })

  it('can be cut in the middle of a line', async () => {
    await start()
    const watch = await client.watch(claims)

    server.watches.cut()

    expect(await watch.ended).to.equal('broken')
    expect(watch.pending).to.equal(0)
    expect(server.watches.requests).to.be.empty
  })

  it('can go silent, bookmarks and all, and stay open', async () => {
    await start()
    const silenced = await client.watch(`${claims}&allowWatchBookmarks=true`)
    const other = await client.watch('/api/v1/persistentvolumes?watch=true&allowWatchBookmarks=true')

    server.watches.silence(({ type }) => type.plural === 'persistentvolumeclaims')
    await server.createClaim({ name: 'data' })
    await clock.step(60_000)

    expect((await other.next()).type).to.equal('BOOKMARK')
    expect(silenced.pending).to.equal(0)
    expect(server.watches.requests).to.have.length(2)
    silenced.close()
    other.close()
  })

  it('can be told that they have expired while they run', async () => {
    await start()
    const watch = await client.watch(claims)

    server.watches.expire()

    expect((await watch.next()).object).to.include({ code: 410 })
    expect(await watch.ended).to.equal('complete')
  })
})

function nameAndType({ type, object }: WatchEvent): string {
  return `${type} ${object.metadata.name}`
}

/** The highest version that any object carries. */
function latest(server: EmbeddedKubernetes): number {
  const objects = ['namespaces', 'persistentvolumes', 'persistentvolumeclaims'].flatMap((resource) =>
    server.list(resource),
  )
  return Math.max(...objects.map(({ metadata }) => Number(metadata.resourceVersion)))
}
