import { expect } from 'chai'
import { ClusterInHand } from '@k8s-cloud-tagger/shared/testing/cluster-in-hand.ts'
import { FakeClock, settle } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { CapturedLog } from '@k8s-cloud-tagger/shared/testing/programs/captured-log.ts'
import type { Claim } from '@k8s-cloud-tagger/shared/claims/claim.ts'
import { parseConfig } from '@k8s-cloud-tagger/shared/config/load-config.ts'
import { MemoryProvider } from '@k8s-cloud-tagger/shared/providers/memory/memory-provider.ts'
import { ProviderError } from '@k8s-cloud-tagger/shared/providers/provider-error.ts'
import { createMetrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import { ClaimBoard } from './claim-board.ts'
import { CachedRecordWriter, ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'
import { LeaderWork } from './leader-work.ts'
import { Sources } from './sources.ts'

const minuteMs = 60_000
const headStartMs = 10_000
const createdAtMs = Date.UTC(2025, 0, 1)

function start(options: { config?: string } = {}) {
  const clock = new FakeClock()
  const cluster = new ClusterInHand()
  const cache = new ClusterCache('aws')
  const sources = new Sources(cache, { needsNamespaces: false })
  const cloud = new MemoryProvider({ clock })
  const log = new CapturedLog()
  const metrics = createMetrics({ version: '1.2.3', program: 'reconciler' })
  const board = new ClaimBoard(clock)
  const notes = new Map<string, string>()
  let alive = 0
  const work = new LeaderWork({
    config: parseConfig(options.config ?? ''),
    clock,
    random: { next: () => 0.5 },
    logger: log,
    metrics,
    identity: 'pod-a',
    namespace: 'k8s-cloud-tagger',
    cache,
    sources,
    board,
    records: new CachedRecordWriter(cluster, cache),
    events: cluster,
    notes: {
      getAnnotation: (key) => notes.get(key),
      setAnnotation: async (key, value) => void notes.set(key, value),
    },
    provider: async () => {
      alive++
      const stop = async () => void alive--
      return Object.assign(cloud, { poke() {}, isSlow: () => false, status: () => [], stop })
    },
  })
  const sync = () => {
    sources.claims.onSynced()
    sources.volumes.onSynced()
  }
  /** A bound claim and its volume, as the watches show them. */
  const add = (name: string, labels: Record<string, string>, namespace = 'db'): Claim => {
    const claim = cluster.put({ namespace, name, uid: name, volumeName: `pv-${name}`, labels, createdAtMs })
    const volume = cluster.putVolume({
      name: `pv-${name}`,
      uid: `volume-${name}`,
      claimRef: { namespace, name, uid: name },
      source: { kind: 'csi', driver: 'ebs.csi.aws.com', handle: `vol-${name}` },
      createdAtMs,
    })
    sources.volumes.onAdd(volume)
    sources.claims.onAdd(claim)
    return claim
  }
  const label = (claim: Claim, labels: Record<string, string>): Claim => {
    const changed = cluster.label(claim, labels)
    sources.claims.onUpdate(changed, claim)
    return changed
  }
  const lead = () => {
    const term = new AbortController()
    const leading = work.lead(term.signal)
    return async () => {
      term.abort()
      await settle()
      await leading
    }
  }
  const shown = () =>
    Object.fromEntries([...board.counts()].map(({ state, reason, count }) => [`${state} ${reason}`.trim(), count]))
  const missed = async () => (await metrics.missedByWebhook.get()).values[0]?.value
  return {
    clock,
    cluster,
    cache,
    sources,
    cloud,
    log,
    metrics,
    notes,
    work,
    sync,
    add,
    label,
    lead,
    shown,
    missed,
    alive: () => alive,
  }
}

describe('LeaderWork', () => {
  it('waits until everything is known, and then brings every disk into line', async () => {
    const { clock, cloud, add, sync, lead, shown } = start()
    add('a', { team: 'core' })
    add('b', { team: 'infra' })
    const endTerm = lead()
    await clock.step(minuteMs)
    expect(cloud.calls.applyChanges).to.equal(0)

    sync()
    await clock.step(50)

    expect([cloud.tagsOf('vol-a'), cloud.tagsOf('vol-b')]).to.deep.equal([{ team: 'core' }, { team: 'infra' }])
    expect(shown()).to.deep.equal({ tagged: 2 })
    await endTerm()
  })

  it('does at once what the webhook is not called for, and the rest when the webhook has had its time', async () => {
    const { clock, cloud, add, sync, lead, missed } = start()
    sync()
    const endTerm = lead()
    await clock.step(0)

    add('a', { team: 'core' })
    add('b', { team: 'core' }, 'kube-system')
    add('c', { team: 'core' }, 'k8s-cloud-tagger')
    await clock.step(headStartMs - 1)
    expect([cloud.tagsOf('vol-a'), cloud.tagsOf('vol-b'), cloud.tagsOf('vol-c')]).to.deep.equal([
      {},
      { team: 'core' },
      { team: 'core' },
    ])
    await clock.step(1)

    expect(cloud.tagsOf('vol-a')).to.deep.equal({ team: 'core' })
    expect(await missed()).to.equal(1)
    await endTerm()
  })

  it('counts nothing as missed that the webhook has done', async () => {
    const { clock, cluster, cloud, sources, add, sync, lead, missed } = start()
    sync()
    const first = lead()
    await clock.step(0)
    const claim = add('a', { team: 'core' })
    await clock.step(headStartMs)
    await first()
    expect(await missed()).to.equal(1)

    // What a second reconciler sees live and finds done.
    const endTerm = lead()
    await clock.step(0)
    sources.volumes.onUpdate(cluster.volumes.get('pv-a')!, cluster.volumes.get('pv-a')!)
    sources.claims.onAdd({ ...claim, resourceVersion: '5000' })
    await clock.step(headStartMs)

    expect(await missed()).to.equal(1)
    expect(cloud.calls.applyChanges).to.equal(1)
    await endTerm()
  })

  it('repairs drift at its next sweep, and notes when that was', async () => {
    const { clock, cloud, metrics, notes, add, sync, lead } = start()
    add('a', { team: 'core' })
    sync()
    const endTerm = lead()
    await clock.step(minuteMs)
    cloud.setByHand('vol-a', 'team', 'by hand')

    await clock.step(31 * minuteMs)

    expect(cloud.tagsOf('vol-a')).to.deep.equal({ team: 'core' })
    expect((await metrics.driftFound.get()).values[0]?.value).to.equal(1)
    const lastSweep = Date.parse(notes.get('k8s-cloud-tagger/last-sweep') ?? '')
    expect(clock.wallMs() - lastSweep).to.be.within(0, 3 * minuteMs)
    expect((await metrics.lastSweep.get()).values[0]?.value).to.equal(lastSweep / 1000)
    await endTerm()
  })

  it('leaves nothing running when its term is over, and does nothing any more', async () => {
    const { clock, cloud, work, add, label, sync, lead, shown, alive } = start()
    const claim = add('a', { team: 'core' })
    sync()
    const endTerm = lead()
    await clock.step(minuteMs)
    label(claim, { team: 'infra' })

    await endTerm()

    expect(clock.pendingTimers).to.equal(0)
    expect(alive()).to.equal(0)
    expect(work.line).to.equal(undefined)
    expect(shown()).to.deep.equal({ tagged: 0 })
    add('b', { team: 'core' })
    await clock.step(24 * 60 * minuteMs)
    expect([cloud.tagsOf('vol-a'), cloud.tagsOf('vol-b')]).to.deep.equal([{ team: 'core' }, {}])
  })

  it('ends within its grace although a call to the cloud hangs', async () => {
    const { clock, cloud, alive, add, sync, lead } = start()
    cloud.applyChanges = () => new Promise(() => {})
    add('a', { team: 'core' })
    sync()
    const endTerm = lead()
    await clock.step(minuteMs)

    let ended = false
    const ending = endTerm().then(() => (ended = true))
    await clock.step(1999)
    expect(ended).to.equal(false)
    await clock.step(1)

    await ending
    expect(alive()).to.equal(0)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('works again in a second term, from what happened in between', async () => {
    const { clock, cloud, add, label, sync, lead, shown } = start()
    const claim = add('a', { team: 'core' })
    sync()
    const first = lead()
    await clock.step(minuteMs)
    await first()
    label(claim, { team: 'infra' })
    add('b', { team: 'core' })

    const second = lead()
    await clock.step(minuteMs)

    expect([cloud.tagsOf('vol-a'), cloud.tagsOf('vol-b')]).to.deep.equal([{ team: 'infra' }, { team: 'core' }])
    expect(shown()).to.deep.equal({ tagged: 2 })
    await second()
    expect(clock.pendingTimers).to.equal(0)
  })

  it('ends a term that is over before everything is known', async () => {
    const { clock, lead, alive } = start()
    const endTerm = lead()
    await clock.step(200)

    await endTerm()

    expect(alive()).to.equal(0)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('shows no claim that was deleted while it was at work', async () => {
    const { clock, cloud, sources, add, sync, lead, shown } = start()
    cloud.latencyMs = 5000
    const claim = add('a', { team: 'core' })
    sync()
    const endTerm = lead()
    await clock.step(1000)
    sources.claims.onDelete(claim)

    await clock.step(minuteMs)

    expect(shown()).to.deep.equal({})
    await endTerm()
  })

  it('goes on although the cloud fails, and says which claims are affected', async () => {
    const { clock, cloud, add, sync, lead, shown } = start()
    cloud.applyChanges = () => Promise.reject(new ProviderError('denied', 'no'))
    add('a', { team: 'core' })
    add('b', {})
    sync()
    const endTerm = lead()

    await clock.step(minuteMs)

    expect(shown()).to.deep.equal({ 'failed cloud-denied': 1, tagged: 1 })
    await endTerm()
  })

  it('names the price of its sweeps', async () => {
    const { clock, log, add, sync, lead } = start({ config: 'cloudProvider: aws\nrequeue: {success: 5m}' })
    for (let i = 0; i < 3; i++) add(`${i}`, {})
    sync()

    const endTerm = lead()
    await clock.step(0)

    const line = log.lines.find(({ message }) => message.startsWith('comparing every disk'))
    expect(line?.fields).to.deep.equal({ claims: 3, sweepEvery: '5m', callsADay: 288 })
    await endTerm()
  })
})
