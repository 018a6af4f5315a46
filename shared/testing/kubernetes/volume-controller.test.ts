import { expect } from 'chai'
import { FakeClock } from '../fake-clock.ts'
import { EmbeddedKubernetes } from './embedded-kubernetes.ts'
import { childOf, type KubeObject } from './objects.ts'
import { PlainClient, type WatchReader } from './plain-client.ts'
import type { VolumeControllerOptions } from './volume-controller.ts'

describe('the volume controller', () => {
  let server: EmbeddedKubernetes
  let client: PlainClient
  let clock: FakeClock
  let watch: { readonly volumes: WatchReader; readonly claims: WatchReader }

  const start = async (volumeController: VolumeControllerOptions = {}): Promise<void> => {
    clock = new FakeClock()
    server = await EmbeddedKubernetes.start({ clock, volumeController })
    client = new PlainClient(server)
    watch = {
      volumes: await client.watch('/api/v1/persistentvolumes?watch=true'),
      claims: await client.watch('/api/v1/persistentvolumeclaims?watch=true'),
    }
  }

  afterEach(async () => {
    client.close()
    await server.stop()
  })

  const claim = (name: string): KubeObject | undefined => server.get('persistentvolumeclaims', name, 'default')
  const volume = (name: string): KubeObject | undefined => server.get('persistentvolumes', name)

  /** The next state of a claim that satisfies the condition. */
  const nextClaim = async (holds: (claim: KubeObject) => boolean): Promise<KubeObject> => {
    for (;;) {
      const { object } = await watch.claims.next()
      if (holds(object)) return object
    }
  }
  const nextBound = (name: string): Promise<KubeObject> =>
    nextClaim(({ metadata, status }) => metadata.name === name && status?.['phase'] === 'Bound')

  it('binds a volume that was kept for the claim, in the order of the real one', async () => {
    await start()
    await server.createVolume({ name: 'pv-1', claimRef: { namespace: 'default', name: 'data' } })
    const { metadata } = await server.createClaim({ name: 'data' })

    await nextBound('data')

    const states = await watch.volumes.take(4)
    expect(states.map(({ object }) => [claimRefOf(object)['uid'], object.status?.['phase']])).to.deep.equal([
      [undefined, 'Pending'],
      [undefined, 'Available'],
      [metadata.uid, 'Available'],
      [metadata.uid, 'Bound'],
    ])
    const bound = claim('data')
    expect(bound?.spec?.['volumeName']).to.equal('pv-1')
    expect(bound?.metadata.annotations).to.deep.equal({
      'pv.kubernetes.io/bind-completed': 'yes',
      'pv.kubernetes.io/bound-by-controller': 'yes',
    })
    expect(bound?.status).to.deep.equal({
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
    })
    const [boundVolume, mainWrite, statusWrite] = [states[3]?.object, ...(await historyOf('data')).slice(-2)]
    expect(mainWrite?.status?.['phase']).to.equal('Pending')
    expect([boundVolume, mainWrite, statusWrite].map(versionOf)).to.deep.equal(
      [boundVolume, mainWrite, statusWrite].map(versionOf).toSorted((a, b) => a - b),
    )
  })

  it('binds a claim that names a free volume', async () => {
    await start()
    await server.createVolume({ name: 'pv-1', storageClassName: 'manual' })
    await server.createClaim({ name: 'data', storageClassName: 'manual', volumeName: 'pv-1' })

    const bound = await nextBound('data')

    expect(bound.metadata.annotations).to.deep.equal({ 'pv.kubernetes.io/bind-completed': 'yes' })
    expect(volume('pv-1')?.metadata.annotations).to.deep.equal({ 'pv.kubernetes.io/bound-by-controller': 'yes' })
  })

  it('binds each claim of a class to a free volume of it, whichever comes first', async () => {
    await start()
    for (const name of ['a', 'b']) await server.createClaim({ name, storageClassName: 'manual' })
    for (const name of ['pv-1', 'pv-2', 'pv-3']) await server.createVolume({ name, storageClassName: 'manual' })
    await server.createClaim({ name: 'c', storageClassName: 'manual' })

    const bound = [await nextBoundAny(), await nextBoundAny(), await nextBoundAny()]

    expect(new Set(bound.map(({ metadata }) => metadata.name))).to.deep.equal(new Set(['a', 'b', 'c']))
    expect(new Set(bound.map(({ spec }) => spec?.['volumeName']))).to.deep.equal(new Set(['pv-1', 'pv-2', 'pv-3']))
  })

  it("leaves a claim pending that names another claim's volume", async () => {
    await start()
    await server.createVolume({ name: 'pv-1' })
    const { metadata } = await server.createClaim({ name: 'rightful', volumeName: 'pv-1' })
    await nextBound('rightful')

    await server.createClaim({ name: 'thief', volumeName: 'pv-1' })
    await server.createVolume({ name: 'pv-2' })
    await server.createClaim({ name: 'after', volumeName: 'pv-2' })
    await nextBound('after')

    expect(claim('thief')?.status).to.deep.equal({ phase: 'Pending' })
    expect(claim('thief')?.metadata).to.not.have.property('annotations')
    expect(claimRefOf(volume('pv-1'))['uid']).to.equal(metadata.uid)
  })

  it('binds what a provisioner made', async () => {
    await start()
    const { metadata } = await server.createClaim({ name: 'data', storageClassName: 'gp3' })

    await server.provision('default', 'data', { handle: 'vol-1' })

    const bound = await nextBound('data')
    const made = volume(`pvc-${metadata.uid}`)
    expect(bound.spec?.['volumeName']).to.equal(`pvc-${metadata.uid}`)
    expect(made?.spec?.['csi']).to.deep.equal({ driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1' })
    expect(made?.metadata.annotations).to.deep.equal({ 'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com' })
    expect(claimRefOf(made)).to.include({ namespace: 'default', name: 'data', uid: metadata.uid })
  })

  it('provisions by itself for classes that bind at once, after the delay', async () => {
    await start({ delayMs: 500, provision: ({ metadata }) => ({ handle: `vol-of-${metadata.name}` }) })
    await server.create('storageclasses', { metadata: { name: 'gp3' }, provisioner: 'ebs.csi.aws.com' })
    await server.create('storageclasses', {
      metadata: { name: 'late' },
      provisioner: 'ebs.csi.aws.com',
      volumeBindingMode: 'WaitForFirstConsumer',
    })
    await server.createClaim({ name: 'waits', storageClassName: 'late' })
    await server.createClaim({ name: 'data', storageClassName: 'gp3' })
    await clock.step(499)
    expect(server.list('persistentvolumes')).to.be.empty

    await clock.step(1)

    const bound = await nextBound('data')
    expect(childOf(volume(String(bound.spec?.['volumeName']))?.spec, 'csi')['volumeHandle']).to.equal('vol-of-data')
    expect(claim('waits')?.status).to.deep.equal({ phase: 'Pending' })
  })

  it('writes within the process: its writes are no requests', async () => {
    await start()
    await server.createVolume({ name: 'pv-1' })
    await server.createClaim({ name: 'data', volumeName: 'pv-1' })

    await nextBound('data')

    expect(server.log.count()).to.equal(server.log.count({ verb: 'watch' }))
  })

  it('lets a deleted claim go and keeps its volume as Released', async () => {
    await start()
    await server.createVolume({ name: 'pv-1' })
    await server.createClaim({ name: 'data', volumeName: 'pv-1' })
    expect((await nextBound('data')).metadata.finalizers).to.deep.equal(['kubernetes.io/pvc-protection'])

    await server.delete('persistentvolumeclaims', 'data', 'default')

    const released = await nextVolume((object) => object.status?.['phase'] === 'Released')
    expect(claim('data')).to.be.undefined
    expect(released.metadata.name).to.equal('pv-1')
  })

  it('deletes the volume with the claim where the policy says so', async () => {
    await start({ provision: true })
    await server.create('storageclasses', { metadata: { name: 'gp3' }, provisioner: 'ebs.csi.aws.com' })
    await server.createClaim({ name: 'data', storageClassName: 'gp3' })
    await nextBound('data')

    await server.delete('persistentvolumeclaims', 'data', 'default')

    let type = ''
    while (type !== 'DELETED') ({ type } = await watch.volumes.next())
    expect(server.list('persistentvolumes')).to.be.empty
  })

  const nextBoundAny = (): Promise<KubeObject> => nextClaim(({ status }) => status?.['phase'] === 'Bound')

  const nextVolume = async (holds: (volume: KubeObject) => boolean): Promise<KubeObject> => {
    for (;;) {
      const { object } = await watch.volumes.next()
      if (holds(object)) return object
    }
  }

  /** Every state that the claim went through so far. */
  const historyOf = async (name: string): Promise<KubeObject[]> => {
    const again = await client.watch(
      `/api/v1/persistentvolumeclaims?watch=true&resourceVersion=1&fieldSelector=metadata.name%3D${name}`,
    )
    const states: KubeObject[] = []
    while (states.at(-1)?.status?.['phase'] !== 'Bound') states.push((await again.next()).object)
    again.close()
    return states
  }
})

describe('EmbeddedKubernetes without a volume controller', () => {
  it('binds nothing by itself, and on demand', async () => {
    const server = await EmbeddedKubernetes.start()
    await server.createVolume({ name: 'pv-1' })
    const claim = await server.createClaim({ name: 'data', volumeName: 'pv-1' })
    expect(claim.metadata).to.not.have.property('finalizers')

    await server.bind('default', 'data', 'pv-1')

    expect(server.get('persistentvolumeclaims', 'data', 'default')?.status).to.include({ phase: 'Bound' })
    expect(server.get('persistentvolumes', 'pv-1')?.status).to.include({ phase: 'Bound' })
    await server.stop()
  })
})

function claimRefOf(volume: KubeObject | undefined): Record<string, unknown> {
  return childOf(volume?.spec, 'claimRef')
}

function versionOf(object: KubeObject | undefined): number {
  return Number(object?.metadata.resourceVersion)
}
