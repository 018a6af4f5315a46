import { expect } from 'chai'
import { claim, volume as volumeBuilder } from '../../testing/builders.ts'
import { FakeClock, settle } from '../../testing/fake-clock.ts'
import { EmbeddedKubernetes } from '../../testing/kubernetes/embedded-kubernetes.ts'
import { claimKey } from '../claims/claim-key.ts'
import type { Volume } from '../claims/volume.ts'
import { silentLogger } from '../runtime/logger.ts'
import type { ClusterCallOptions } from '../tagger/ports.ts'
import { CallGate } from './call-gate.ts'
import { collectionSource } from './collection-source.ts'
import { ClusterConnection } from './connection.ts'
import { kubeconfigText } from './credentials.ts'
import { decodeVolume } from './decode.ts'
import { EventRecorder } from './event-recorder.ts'
import { GatedApi } from './gated-api.ts'
import { KubernetesError } from './kubernetes-error.ts'
import { LeaseElector } from './lease-elector.ts'
import { LiveClusterReader } from './live-cluster.ts'
import { JsonPatchRecordWriter } from './record-writer.ts'
import { Reflector } from './reflector.ts'

const options: ClusterCallOptions = { signal: new AbortController().signal, priority: 'foreground' }
const random = { next: () => 0 }
const applied = 'k8s-cloud-tagger/applied'

async function kindOf(promise: Promise<unknown>): Promise<string> {
  const outcome = await promise.catch((error: unknown) => error)
  return outcome instanceof KubernetesError ? outcome.kind : 'no error'
}

/** Real sockets do not follow the fake clock: looks again until it is so, or the test's time is up. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

describe('what speaks to the API server, over HTTPS', () => {
  let server: EmbeddedKubernetes
  let clock: FakeClock
  let connection: ClusterConnection
  let api: GatedApi

  beforeEach(async () => {
    server = await EmbeddedKubernetes.start()
    clock = new FakeClock()
    connection = new ClusterConnection({
      load: kubeconfigText(server.kubeconfigText('admin')),
      version: 'test',
      clock,
      logger: silentLogger,
    })
    api = new GatedApi({ transport: connection, gate: new CallGate({ clock, random }) })
  })

  afterEach(async () => {
    await connection.close()
    await server.stop()
  })

  async function createVolume(name: string, annotations?: Record<string, string>): Promise<void> {
    await server.create('persistentvolumes', {
      metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        claimRef: { namespace: 'db', name: 'data-0', uid: 'claim-uid-1' },
        csi: { driver: 'ebs.csi.aws.com', volumeHandle: `vol-of-${name}` },
      },
    })
  }

  function annotationsOf(name: string): Record<string, string> | undefined {
    return server.get('persistentvolumes', name)?.metadata.annotations
  }

  describe('LiveClusterReader', () => {
    it('reads a claim and a volume with one GET each', async () => {
      await server.create(
        'persistentvolumeclaims',
        {
          metadata: { name: 'data-0', labels: { team: 'core' } },
          spec: { volumeName: 'pv-1', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
        'default',
      )
      await createVolume('pv-1')
      const reader = new LiveClusterReader({ api })

      const found = await reader.claim(claimKey('default', 'data-0'), options)
      const volume = await reader.volume('pv-1', options)

      expect(found).to.deep.include({
        namespace: 'default',
        name: 'data-0',
        labels: { team: 'core' },
        volumeName: 'pv-1',
      })
      expect(volume?.source).to.deep.equal({ kind: 'csi', driver: 'ebs.csi.aws.com', handle: 'vol-of-pv-1' })
      expect(server.log.count()).to.equal(2)
    })

    it('has undefined for what is not there, and an error for what cannot be known', async () => {
      const reader = new LiveClusterReader({ api })

      expect(await reader.claim(claimKey('default', 'none'), options)).to.be.undefined
      expect(await reader.volume('none', options)).to.be.undefined
      server.failNext(1, () => true, { kind: 'status', code: 500 })
      expect(await kindOf(reader.volume('none', options))).to.equal('unavailable')
    })

    it('takes an object that it cannot read for an error, never for a missing one', async () => {
      const reader = new LiveClusterReader({ api: { call: () => Promise.resolve({ kind: 'PersistentVolume' }) } })

      expect(await kindOf(reader.volume('pv-1', options))).to.equal('invalid')
    })
  })

  describe('JsonPatchRecordWriter', () => {
    async function written(name: string): Promise<{ volume: Volume; writer: JsonPatchRecordWriter }> {
      const volume = await new LiveClusterReader({ api }).volume(name, options)
      if (volume === undefined) throw new Error('the volume is not there')
      server.log.reset()
      return { volume, writer: new JsonPatchRecordWriter({ api }) }
    }

    it('adds the first record beside other annotations, with one call', async () => {
      await createVolume('pv-1', { 'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com' })
      const { volume, writer } = await written('pv-1')

      const now = await writer.writeRecord(volume, '{"v":1}', options)

      expect(now.applied).to.equal('{"v":1}')
      expect(now.resourceVersion).to.not.equal(volume.resourceVersion)
      expect(annotationsOf('pv-1')).to.deep.equal({
        'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com',
        [applied]: '{"v":1}',
      })
      expect(server.log.count()).to.equal(1)
    })

    it('adds the first record where there are no annotations at all', async () => {
      await createVolume('pv-1')
      const { volume, writer } = await written('pv-1')

      await writer.writeRecord(volume, '{"v":1}', options)

      expect(annotationsOf('pv-1')).to.deep.equal({ [applied]: '{"v":1}' })
    })

    it('replaces the record that it was given, and takes no notice of other writes', async () => {
      await createVolume('pv-1', { [applied]: 'old' })
      const { volume, writer } = await written('pv-1')
      await connection.send({
        method: 'PATCH',
        path: '/api/v1/persistentvolumes/pv-1',
        contentType: 'application/merge-patch+json',
        body: { metadata: { annotations: { attacher: 'was here' }, finalizers: ['external-attacher/x'] } },
        signal: options.signal,
      })

      await writer.writeRecord(volume, 'new', options)

      expect(annotationsOf('pv-1')).to.deep.equal({ [applied]: 'new', attacher: 'was here' })
    })

    it('never wipes annotations that came in between', async () => {
      await createVolume('pv-1')
      const { volume, writer } = await written('pv-1')
      let patches = 0
      const remove = server.onRequest(async (moment, request) => {
        if (moment !== 'before' || request.verb !== 'patch' || ++patches !== 2) return
        remove()
        await connection.send({
          method: 'PATCH',
          path: '/api/v1/persistentvolumes/pv-1',
          contentType: 'application/merge-patch+json',
          body: { metadata: { annotations: { foreign: 'kept' } } },
          signal: options.signal,
        })
      })

      expect(await kindOf(writer.writeRecord(volume, 'new', options))).to.equal('conflict')

      expect(annotationsOf('pv-1')).to.deep.equal({ foreign: 'kept' })
    })

    const conflicts: { when: string; change: (volume: Volume) => Volume }[] = [
      { when: 'another record is there', change: (volume) => ({ ...volume, applied: 'not this' }) },
      { when: 'there is a record where none was', change: (volume) => ({ ...volume, applied: undefined }) },
      { when: 'the volume was made again', change: (volume) => ({ ...volume, uid: 'other' }) },
      {
        when: 'the volume belongs to another claim',
        change: (volume) => ({ ...volume, claimRef: { namespace: 'db', name: 'data-0', uid: 'other' } }),
      },
      { when: 'the volume was free', change: (volume) => ({ ...volume, claimRef: undefined }) },
      {
        when: 'the volume was not bound',
        change: (volume) => ({ ...volume, claimRef: { namespace: 'db', name: 'data-0', uid: undefined } }),
      },
    ]
    for (const { when, change } of conflicts) {
      it(`conflicts and writes nothing when ${when}`, async () => {
        await createVolume('pv-1', { [applied]: 'theirs' })
        const { volume, writer } = await written('pv-1')

        expect(await kindOf(writer.writeRecord(change(volume), 'ours', options))).to.equal('conflict')

        expect(annotationsOf('pv-1')).to.deep.equal({ [applied]: 'theirs' })
      })
    }

    it("is 'not-found' for a volume that is gone", async () => {
      const writer = new JsonPatchRecordWriter({ api })

      expect(await kindOf(writer.writeRecord(volumeBuilder({ name: 'gone' }), 'x', options))).to.equal('not-found')
    })
  })

  describe('Reflector', () => {
    function reflect() {
      const names = new Set<string>()
      const reflector = new Reflector<Volume>({
        name: 'volumes',
        source: collectionSource({ api, transport: connection, path: '/api/v1/persistentvolumes' }),
        decode: decodeVolume,
        store: {
          onAdd: ({ name }) => names.add(name),
          onUpdate() {},
          onDelete: ({ name }) => names.delete(name),
          onSynced() {},
        },
        clock,
        random,
        logger: silentLogger,
        pageSize: 2,
      })
      reflector.start()
      const watching = () => until(() => server.watches.requests.length > 0)
      return { names, reflector, watching }
    }

    it('follows the server through pages, events and every kind of end', async () => {
      for (const name of ['a', 'b', 'c']) await createVolume(name)
      const { names, reflector, watching } = reflect()
      await watching()
      expect([...names]).to.deep.equal(['a', 'b', 'c'])

      const ends: { name: string; end: () => void; afterMs: number }[] = [
        { name: 'cut', end: () => server.watches.cut(), afterMs: 2_000 },
        { name: 'ended', end: () => server.watches.end(), afterMs: 4_000 },
        { name: 'silent', end: () => server.watches.silence(), afterMs: 121_000 },
        { name: 'expired', end: () => server.watches.expire(), afterMs: 10_000 },
      ]
      for (const { name, end, afterMs } of ends) {
        const before = server.log.count({ verb: 'watch' })
        end()
        await createVolume(name)
        while (server.log.count({ verb: 'watch' }) === before) await clock.step(afterMs / 20)
        await until(() => names.has(name))
      }

      await reflector.stop()
      await until(() => server.watches.requests.length === 0)
      expect(clock.pendingTimers).to.equal(0)
    })

    it('lists anew when the server forgot its version', async () => {
      const { names, reflector, watching } = reflect()
      await watching()
      const lists = server.log.count({ verb: 'list' })

      server.watches.cut()
      await createVolume('a')
      server.compact()
      while (server.log.count({ verb: 'list' }) === lists) await clock.step(500)
      await until(() => names.has('a'))

      await reflector.stop()
    })

    it('gets its credentials anew after a 401 and goes on', async () => {
      const { names, reflector, watching } = reflect()
      await watching()
      server.failNext(2, ({ verb }) => verb === 'watch', { kind: 'status', code: 401 })
      server.watches.cut()
      await createVolume('a')

      while (server.faults.unused > 0 || server.watches.requests.length === 0) await clock.step(500)
      await until(() => names.has('a'))

      expect(reflector.status.synced).to.be.true
      await reflector.stop()
    })
  })

  it('accepts the Lease as the elector writes it', async () => {
    const stopping = new AbortController()
    const elector = new LeaseElector({
      transport: connection,
      namespace: 'kube-system',
      name: 'reconciler',
      identity: 'pod-1',
      clock,
      random,
      logger: silentLogger,
    })
    const done = elector.run(
      (term) => new Promise((resolve) => term.addEventListener('abort', () => resolve())),
      stopping.signal,
    )
    await until(() => elector.isLeader)

    await elector.setAnnotation('k8s-cloud-tagger/last-sweep', 'now')
    stopping.abort()
    await done

    const lease = server.get('leases', 'reconciler', 'kube-system')
    expect(lease?.metadata.annotations).to.deep.equal({ 'k8s-cloud-tagger/last-sweep': 'now' })
    expect(lease?.spec?.['holderIdentity'] ?? '').to.equal('')
  })

  it('accepts Events as the recorder writes them', async () => {
    const recorder = new EventRecorder({ api, clock, random, logger: silentLogger, instance: 'pod-1' })

    recorder.record(claim({ namespace: 'default', name: `long.${'x'.repeat(200)}` }), {
      type: 'Warning',
      reason: 'TagFailed',
      note: 'ä'.repeat(2_000),
    })
    await until(() => recorder.status.written + recorder.status.failed === 1)

    expect(recorder.status.written).to.equal(1)
    expect(server.list('events', 'default')).to.have.length(1)
    await recorder.close()
    await settle()
  })

  it('waits out a 429 and repeats the call', async () => {
    await createVolume('pv-1')
    const reader = new LiveClusterReader({ api })
    server.failNext(2, () => true, { kind: 'status', code: 429, retryAfterSeconds: 1 })
    const found = reader.volume('pv-1', options)

    while (server.log.count() < 3) await clock.step(250)

    expect(await found).to.have.property('name', 'pv-1')
  })
})
