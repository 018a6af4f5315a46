import { expect } from 'chai'
import { claim, volume } from '@k8s-cloud-tagger/shared/testing/builders.ts'
import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import type { Hints } from '@k8s-cloud-tagger/shared/queue/hints.ts'
import { ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'
import { queueDoor, Sources } from './sources.ts'

const headStartMs = 10_000

interface Added {
  readonly key: string
  readonly hints: Hints
  readonly delayMs: number
}

function start(options: { headStartMs?: number } = {}) {
  const cache = new ClusterCache('aws')
  const sources = new Sources(cache, { needsNamespaces: false })
  const added: Added[] = []
  const gone: string[] = []
  const door = queueDoor({
    clock: new FakeClock(),
    add: (key, hints, delayMs) => void added.push({ key, hints, delayMs }),
    onGone: (key) => void gone.push(key),
    headStartMs: options.headStartMs ?? headStartMs,
    inWebhookScope: (namespace) => namespace !== 'kube-system',
  })
  return { cache, sources, door, added, gone }
}

const expected: Added = { key: 'db/data-0', hints: { lane: 'fresh', expectWebhook: true }, delayMs: headStartMs }
const looked: Added = { key: 'db/data-0', hints: { lane: 'bulk' }, delayMs: headStartMs }

const namespace = (labels: Record<string, string>) => ({
  name: 'db',
  uid: 'n',
  resourceVersion: '1',
  labels,
  deleting: false,
})

describe('Sources', () => {
  it('are synced when both watches have shown everything', () => {
    const { sources } = start()

    sources.claims.onSynced()
    expect(sources.synced).to.equal(false)
    sources.volumes.onSynced()
    expect(sources.synced).to.equal(true)
  })

  it('wait for the namespaces too where a rule reads their labels', () => {
    const sources = new Sources(new ClusterCache('aws'), { needsNamespaces: true })
    sources.claims.onSynced()
    sources.volumes.onSynced()

    expect(sources.synced).to.equal(false)
    sources.namespaces.onSynced()
    expect(sources.synced).to.equal(true)
  })

  it('I1: send every claim of a relabelled namespace through, at once and as bulk work', () => {
    const { cache, sources, door, added } = start()
    for (const name of ['data-0', 'data-1']) sources.claims.onAdd(claim({ name, uid: name }))
    sources.claims.onAdd(claim({ namespace: 'other' }))
    sources.namespaces.onAdd(namespace({ team: 'a' }))
    sources.open(door)
    added.length = 0

    sources.namespaces.onUpdate(namespace({ team: 'b' }), namespace({ team: 'a' }))
    sources.namespaces.onUpdate(namespace({ team: 'b' }), namespace({ team: 'b' }))

    expect(added).to.deep.equal(['db/data-0', 'db/data-1'].map((key) => ({ key, hints: { lane: 'bulk' }, delayMs: 0 })))
    expect(cache.namespaceNow('db')?.labels).to.deep.equal({ team: 'b' })
    sources.namespaces.onDelete(namespace({}))
    expect(cache.namespaceNow('db')).to.equal(undefined)
  })

  it('look again at the claim of another volume of the same disk when one goes', () => {
    const { sources, door, added } = start()
    const second = { name: 'pv-2', uid: 'v2', claimRef: { namespace: 'db', name: 'data-1', uid: 'c2' } }
    sources.claims.onAdd(claim())
    sources.claims.onAdd(claim({ name: 'data-1', uid: 'c2', volumeName: 'pv-2' }))
    sources.volumes.onAdd(volume())
    sources.volumes.onAdd(volume(second))
    sources.open(door)
    added.length = 0

    sources.volumes.onDelete(volume())

    expect(added).to.deep.include({ key: 'db/data-1', hints: { lane: 'bulk' }, delayMs: 0 })
  })

  it('fill the cache while no door is open', async () => {
    const { cache, sources, added } = start()

    sources.claims.onAdd(claim())
    sources.volumes.onAdd(volume())

    expect(cache.claimNow(claim().key)).to.not.equal(undefined)
    expect(cache.volumeNow('pv-1')).to.not.equal(undefined)
    expect(added).to.deep.equal([])
  })

  it('send everything known through a door that opens, at once and as bulk work', () => {
    const { sources, door, added } = start()
    for (const name of ['data-0', 'data-1']) sources.claims.onAdd(claim({ name, uid: name }))

    sources.open(door)

    expect(added).to.deep.equal([
      { key: 'db/data-0', hints: { lane: 'bulk' }, delayMs: 0 },
      { key: 'db/data-1', hints: { lane: 'bulk' }, delayMs: 0 },
    ])
  })

  it('give the webhook its head start for a claim that comes live', () => {
    const { sources, door, added } = start()
    sources.open(door)

    sources.claims.onAdd(claim())

    expect(added).to.deep.equal([expected])
  })

  it('give none, and expect nothing, where the webhook is not called', () => {
    const { sources, door, added } = start()
    sources.open(door)

    sources.claims.onAdd(claim({ namespace: 'kube-system' }))

    expect(added).to.deep.equal([{ key: 'kube-system/data-0', hints: { lane: 'fresh' }, delayMs: 0 }])
  })

  it('give none where there is no webhook', () => {
    const { sources, door, added } = start({ headStartMs: 0 })
    sources.open(door)

    sources.claims.onAdd(claim())
    sources.volumes.onAdd(volume())

    expect(added).to.deep.equal([
      { key: 'db/data-0', hints: { lane: 'fresh' }, delayMs: 0 },
      { key: 'db/data-0', hints: { lane: 'bulk' }, delayMs: 0 },
    ])
  })

  describe('of the changes of a claim, pass on', () => {
    const before = claim({ labels: { team: 'core' }, annotations: { note: 'x' } })
    for (const [what, after, passes] of [
      ['another value of a label', { labels: { team: 'infra' } }, true],
      ['a label more', { labels: { team: 'core', env: 'prod' } }, true],
      ['a label less', { labels: {} }, true],
      ['another label', { labels: { tame: 'core' } }, true],
      ['the bind', { volumeName: 'pv-2' }, true],
      ['the wish to delete it', { deleting: true }, true],
      ['nothing but a new version', {}, false],
      ['the same labels written anew', { labels: { team: 'core' } }, false],
      ['another storage class', { storageClassName: 'gp2' }, false],
    ] as const) {
      it(`${passes ? '' : 'not '}${what}`, () => {
        const { cache, sources, door, added } = start()
        sources.claims.onAdd(before)
        sources.open(door)
        added.length = 0
        const changed = { ...before, ...after, resourceVersion: '200' }

        sources.claims.onUpdate(changed, before)

        expect(added).to.deep.equal(passes ? [expected] : [])
        expect(cache.claimNow(before.key)).to.equal(changed)
      })
    }
  })

  describe('look at the claim of a volume', () => {
    function withClaim() {
      const world = start()
      world.sources.claims.onAdd(claim())
      world.sources.open(world.door)
      world.added.length = 0
      return world
    }

    it('that comes, changes or goes, when the webhook has had its time', () => {
      const { sources, added } = withClaim()

      sources.volumes.onAdd(volume())
      sources.volumes.onUpdate(volume({ resourceVersion: '102', applied: 'x' }), volume())
      sources.volumes.onDelete(volume())

      expect(added).to.deep.equal([looked, looked, looked])
    })

    it('but not because of an event that is older than what is known', () => {
      const { cache, sources, added } = withClaim()
      cache.putVolume(volume({ resourceVersion: '200', applied: 'ours' }))

      sources.volumes.onUpdate(volume({ resourceVersion: '150' }), volume())

      expect(added).to.deep.equal([])
    })

    it('unless it has none, or one that is not there', () => {
      const { sources, added } = withClaim()

      sources.volumes.onAdd(volume({ name: 'pv-2', claimRef: undefined }))
      sources.volumes.onAdd(volume({ name: 'pv-3', claimRef: { namespace: 'db', name: 'ghost', uid: 'x' } }))

      expect(added).to.deep.equal([])
    })
  })

  it('tell of a claim that is gone, and look at none of that name any more', () => {
    const { sources, door, added, gone } = start()
    sources.claims.onAdd(claim())
    sources.open(door)
    added.length = 0

    sources.claims.onDelete(claim())
    sources.volumes.onUpdate(volume(), volume())

    expect(gone).to.deep.equal(['db/data-0'])
    expect(added).to.deep.equal([])
  })

  it('let nothing through a door that was closed, and everything through the next one', () => {
    const { sources, door, added } = start()
    const close = sources.open(door)
    close()

    sources.claims.onAdd(claim())
    expect(added).to.deep.equal([])
    sources.open(door)

    expect(added).to.deep.equal([{ key: 'db/data-0', hints: { lane: 'bulk' }, delayMs: 0 }])
  })

  it('take more live changes of one namespace than anybody makes by hand for bulk work', () => {
    const { sources, door, added } = start()
    sources.open(door)

    for (let i = 0; i < 2500; i++) sources.claims.onAdd(claim({ namespace: 'flood', name: `data-${i}`, uid: `${i}` }))
    sources.claims.onAdd(claim({ namespace: 'quiet' }))

    expect(added.filter(({ hints }) => hints.lane === 'bulk')).to.have.length(500)
    expect(added.at(-1)?.hints.lane).to.equal('fresh')
  })
})
