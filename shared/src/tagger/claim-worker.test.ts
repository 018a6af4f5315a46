import { expect } from 'chai'
import { claim as aClaim } from '../../testing/builders.ts'
import { ClusterInHand } from '../../testing/cluster-in-hand.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { CapturedLog } from '../../testing/programs/captured-log.ts'
import type { ClaimKey } from '../claims/claim-key.ts'
import { parseConfig } from '../config/load-config.ts'
import { KubernetesError, kubernetesErrorKinds } from '../kubernetes/kubernetes-error.ts'
import type { AppliedRecord } from '../plan/applied-record.ts'
import { serializeRecord } from '../plan/record-codec.ts'
import { MemoryProvider } from '../providers/memory/memory-provider.ts'
import { ProviderError, providerErrorKinds } from '../providers/provider-error.ts'
import type { RunningProvider } from '../providers/running-provider.ts'
import type { Outcome } from './outcome.ts'
import { createTaggingLine } from './tagging-line.ts'

const disk = 'vol-0123456789abcdef0'

interface Pass {
  readonly atMs: number
  readonly key: ClaimKey
  readonly outcome: Outcome
}

async function start(options: { config?: string; handOverAfterMs?: number; concurrency?: number } = {}) {
  const clock = new FakeClock()
  const cluster = new ClusterInHand()
  const cloud = new MemoryProvider({ clock })
  const log = new CapturedLog()
  const passes: Pass[] = []
  const handedOver: ClaimKey[] = []
  const alive = { poke() {}, isSlow: () => false, status: () => [], stop: () => Promise.resolve() }
  const provider: RunningProvider = Object.assign(cloud, alive)
  const line = await createTaggingLine({
    config: parseConfig(`cloudProvider: aws\n${options.config ?? ''}`),
    clock,
    // Nothing makes delays shorter than this.
    random: { next: () => 0.999_999 },
    logger: log,
    reader: cluster,
    records: cluster,
    events: cluster,
    observer: {
      passed: (key, outcome) => void passes.push({ atMs: clock.monotonicMs(), key, outcome }),
      handedOver: (key) => void handedOver.push(key),
    },
    identity: 'pod-a',
    diskCount: () => 0,
    queueCapacity: 1000,
    concurrency: options.concurrency ?? 10,
    handOverAfterMs: options.handOverAfterMs,
    provider: () => Promise.resolve(provider),
  })
  const claim = cluster.put({ labels: { team: 'core' } })
  cluster.putVolume()
  line.start()
  const stop = async () => {
    const stopping = line.stop(0)
    await clock.step(0)
    await stopping
    expect(clock.pendingTimers).to.equal(0)
  }
  return { clock, cluster, cloud, log, line, passes, handedOver, claim, stop }
}

/** The most passes that began within any second. */
function mostWithinASecond(passes: readonly Pass[]): number {
  const times = passes.map(({ atMs }) => atMs)
  return Math.max(...times.map((from) => times.filter((atMs) => atMs >= from && atMs < from + 1000).length))
}

describe('ClaimWorker', () => {
  it('rests after a pass that did well', async () => {
    const { clock, cloud, line, claim, passes, stop } = await start()

    line.queue.add(claim.key, { lane: 'fresh' })
    await clock.step(3_600_000)

    expect(passes.map(({ outcome }) => outcome.kind)).to.deep.equal(['tagged'])
    expect(cloud.tagsOf(disk)).to.deep.equal({ team: 'core' })
    await stop()
  })

  describe('makes at most three passes a second of a claim that nobody changes, while', () => {
    const impatient = 'requeue: {error: 1ms, notReady: 1ms}'
    for (const [config, setting] of [
      ['', 'with the usual settings'],
      [impatient, 'even with the shortest'],
    ] as const) {
      for (const method of ['getTags', 'applyChanges'] as const) {
        const errors = [
          ...providerErrorKinds.map((kind) => new ProviderError(kind, 'no')),
          new ProviderError('throttled', 'no', { retryAfterMs: 0 }),
          new ProviderError('denied', 'no', { retryAfterMs: 1 }),
          new ProviderError('unavailable', 'no', { code: 'NeverHeardOfIt', outcomeUnknown: true }),
        ]
        for (const error of errors) {
          const name = [error.kind, error.code, error.retryAfterMs].filter((part) => part !== undefined).join(' ')
          it(`the cloud answers ${method} with ${name}, ${setting}`, async () => {
            const { clock, cloud, line, claim, passes, stop } = await start({ config })
            Object.assign(cloud, { [method]: () => Promise.reject(error) })

            line.queue.add(claim.key, { lane: 'fresh' })
            await clock.step(60_000)

            expect(mostWithinASecond(passes)).to.be.within(1, 3)
            await stop()
          })
        }
      }

      for (const kind of kubernetesErrorKinds) {
        for (const call of ['get claim', 'get volume', 'open record', 'settle record']) {
          it(`the API server answers ${call} with ${kind}, ${setting}`, async () => {
            const { clock, cluster, line, claim, passes, stop } = await start({ config })
            cluster.before = (name) => {
              if (name === call) throw new KubernetesError(kind, 'no')
            }

            line.queue.add(claim.key, { lane: 'fresh' })
            await clock.step(60_000)

            expect(mostWithinASecond(passes)).to.be.within(1, 3)
            await stop()
          })
        }
      }
    }
  })

  it('reads a disk less and less often whose record the API server never takes', async () => {
    const { clock, cluster, cloud, line, claim, stop } = await start()
    cloud.addDisk(disk, { team: 'core' })
    cluster.before = (call) => {
      if (call === 'settle record') throw new KubernetesError('denied', 'no')
    }

    line.queue.add(claim.key, { lane: 'fresh' })
    await clock.step(60_000)

    expect(cloud.calls.getTags).to.be.within(5, 8)
    cluster.before = () => {}
    await clock.step(60_000)
    expect(cluster.volumes.get('pv-1')?.applied).to.include('"settledAt"')
    await stop()
  })

  it('goes on until the cloud answers again, and looks where a write may have landed', async () => {
    const { clock, cloud, line, claim, passes, stop } = await start()
    const lost = new ProviderError('unavailable', 'lost', { outcomeUnknown: true })
    for (let i = 0; i < 3; i++) cloud.failNext(lost, { method: 'applyChanges', afterWrite: i === 2 })

    line.queue.add(claim.key, { lane: 'fresh' })
    await clock.step(30_000)

    expect(passes.map(({ outcome }) => outcome.kind).slice(0, 4)).to.deep.equal([
      'cloud-failure',
      'cloud-failure',
      'cloud-failure',
      'in-sync',
    ])
    expect(cloud.tagsOf(disk)).to.deep.equal({ team: 'core' })
    await stop()
  })

  it('is loud about a failure once, and quiet while it lasts', async () => {
    const { clock, cloud, log, line, claim, passes, stop } = await start()
    cloud.getTags = () => Promise.reject(new ProviderError('unavailable', 'no', { code: 'NeverHeardOfIt' }))

    line.queue.add(claim.key, { lane: 'fresh' })
    await clock.step(600_000)

    expect(passes.length).to.be.above(10)
    expect(log.at('warn')).to.deep.equal(['claim not tagged'])
    expect(log.lines.find(({ level }) => level === 'warn')?.fields).to.deep.include({
      claim: 'db/data-0',
      reason: 'unavailable',
      code: 'NeverHeardOfIt',
    })
    await stop()
  })

  it('says nothing loud about a conflict, which ends by itself', async () => {
    const { clock, cloud, log, line, claim, stop } = await start()
    cloud.failNext(new ProviderError('conflict', 'raced'), { method: 'applyChanges' })

    line.queue.add(claim.key, { lane: 'fresh' })
    await clock.step(10_000)

    expect(log.at('warn')).to.deep.equal([])
    expect(cloud.tagsOf(disk)).to.deep.equal({ team: 'core' })
    await stop()
  })

  for (const [kind, reason, when] of [
    ['denied', 'AccessDenied', 'at once'],
    ['invalid', 'TagFailed', 'at once'],
    ['unavailable', 'TagFailed', 'when it lasts'],
    ['throttled', 'TagFailed', 'when it lasts'],
    ['conflict', 'TagFailed', 'when it lasts'],
  ] as const) {
    it(`tells the owner ${when} about ${kind}`, async () => {
      const { clock, cluster, cloud, line, claim, stop } = await start()
      cloud.applyChanges = () => Promise.reject(new ProviderError(kind, 'no'))

      line.queue.add(claim.key, { lane: 'fresh' })
      await clock.step(1)
      const atOnce = cluster.reasons()
      await clock.step(3_600_000)

      expect(atOnce).to.deep.equal(when === 'at once' ? [reason] : [])
      expect(cluster.reasons()).to.include(reason)
      await stop()
    })
  }

  describe('leaves a claim to the reconciler', () => {
    it('that could not be started within its head start', async () => {
      const { clock, cluster, cloud, line, claim, passes, handedOver, stop } = await start({
        handOverAfterMs: 10_000,
        concurrency: 1,
      })
      const second = cluster.put({ name: 'data-1', uid: 'claim-uid-2', volumeName: 'pv-2', labels: { team: 'core' } })
      cloud.latencyMs = 12_000

      line.queue.add(claim.key, { lane: 'fresh' })
      line.queue.add(second.key, { lane: 'fresh' })
      await clock.step(60_000)

      expect(handedOver).to.deep.equal([second.key])
      expect(passes.map(({ key }) => key)).to.deep.equal([claim.key])
      await stop()
    })

    it('whose store never shows what was reviewed, after a few looks within seconds', async () => {
      const { clock, line, claim, passes, handedOver, stop } = await start()

      line.queue.add(claim.key, { lane: 'fresh', uid: claim.uid, newerThan: '9999' })
      await clock.step(60_000)

      expect(handedOver).to.deep.equal([claim.key])
      expect(passes).to.have.length(10)
      expect(passes.at(-1)?.atMs).to.be.below(5000)
      await stop()
    })

    it('that nobody has ever made, and no more of those than a few thousand looks', async () => {
      const { clock, line, passes, handedOver, stop } = await start()
      const unknown = Array.from({ length: 900 }, (_, i) => aClaim({ name: `ghost-${i}` }).key)

      for (const key of unknown) line.queue.add(key, { lane: 'fresh', uid: 'ghost' })
      await clock.step(60_000)

      expect(new Set(handedOver)).to.deep.equal(new Set(unknown))
      expect(passes.length).to.be.below(900 + 2500)
      await stop()
    }).timeout(20_000)

    it('and keeps it where there is no reconciler, however long it waited', async () => {
      const { clock, cluster, cloud, line, claim, handedOver, passes, stop } = await start({ concurrency: 1 })
      const second = cluster.put({ name: 'data-1', uid: 'claim-uid-2', volumeName: 'pv-2', labels: { team: 'core' } })
      cloud.latencyMs = 120_000

      line.queue.add(claim.key, { lane: 'fresh' })
      line.queue.add(second.key, { lane: 'fresh' })
      await clock.step(600_000)

      expect(handedOver).to.deep.equal([])
      expect(passes.map(({ key }) => key)).to.deep.equal([claim.key, second.key])
      await stop()
    })
  })

  it('looks again when another process that had announced a change should be through with it', async () => {
    const { clock, cluster, cloud, line, claim, passes, stop } = await start()
    const intent = { by: 'pod-b', untilMs: clock.wallMs() + 20_000, touched: new Map() }
    const record: AppliedRecord = {
      volumeUid: 'volume-uid-1',
      claimUid: claim.uid,
      cloud: 'aws',
      diskId: disk,
      settledAtMs: clock.wallMs(),
      settled: new Map(),
      left: new Map(),
      intent,
    }
    cluster.putVolume({ applied: serializeRecord(record) })

    line.queue.add(claim.key, { lane: 'fresh' })
    await clock.step(19_999)
    expect(passes.map(({ outcome }) => outcome.kind)).to.deep.equal(['busy'])
    await clock.step(1000)

    expect(passes.map(({ outcome }) => outcome.kind)).to.deep.equal(['busy', 'tagged'])
    expect(cloud.tagsOf(disk)).to.deep.equal({ team: 'core' })
    await stop()
  })
})
