import {
  ApiException,
  CoordinationV1Api,
  CoreV1Api,
  EventsV1Api,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  V1MicroTime,
  Watch,
} from '@kubernetes/client-node'
import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EmbeddedKubernetes } from './embedded-kubernetes.ts'

describe('@kubernetes/client-node', () => {
  let server: EmbeddedKubernetes
  let config: KubeConfig
  let core: CoreV1Api

  beforeEach(async () => {
    server = await EmbeddedKubernetes.start()
    config = new KubeConfig()
    config.loadFromString(server.kubeconfigText('admin'))
    core = config.makeApiClient(CoreV1Api)
  })

  afterEach(() => server.stop())

  it('creates, gets and lists in pages', async () => {
    for (const name of ['a', 'b', 'c']) {
      await core.createNamespacedPersistentVolumeClaim({
        namespace: 'default',
        body: {
          metadata: { name, labels: { team: 'core' } },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      })
    }

    const one = await core.readNamespacedPersistentVolumeClaim({ namespace: 'default', name: 'a' })
    const first = await core.listPersistentVolumeClaimForAllNamespaces({ limit: 2 })
    const rest = await core.listPersistentVolumeClaimForAllNamespaces({
      limit: 2,
      _continue: first.metadata?._continue ?? '',
    })

    expect(one.metadata?.creationTimestamp).to.be.instanceOf(Date)
    expect(first.items.map(({ metadata }) => metadata?.name)).to.deep.equal(['a', 'b'])
    expect(rest.items.map(({ metadata }) => metadata?.name)).to.deep.equal(['c'])
  })

  it('patches by JSON patch and by merge patch', async () => {
    await server.createVolume({ name: 'pv-1', annotations: { old: 'yes' } })
    const add = { op: 'add', path: '/metadata/annotations/k8s-cloud-tagger~1applied', value: '{}' }

    await core.patchPersistentVolume(
      { name: 'pv-1', body: [add] },
      setHeaderOptions('Content-Type', PatchStrategy.JsonPatch),
    )
    const volume = await core.patchPersistentVolume(
      { name: 'pv-1', body: { metadata: { annotations: { old: null } } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    )

    expect(volume.metadata?.annotations).to.deep.equal({ 'k8s-cloud-tagger/applied': '{}' })
  })

  it('reads refusals as its own exceptions', async () => {
    const missing = await core.readPersistentVolume({ name: 'none' }).catch((error: unknown) => error)

    expect(missing).to.be.instanceOf(ApiException)
    expect((missing as ApiException<unknown>).code).to.equal(404)
  })

  it('replaces a Lease under its version', async () => {
    const leases = config.makeApiClient(CoordinationV1Api)
    const place = { namespace: 'default', name: 'leader' }
    const created = await leases.createNamespacedLease({
      namespace: 'default',
      body: { metadata: { name: 'leader' }, spec: { holderIdentity: 'a', renewTime: new V1MicroTime() } },
    })

    await leases.replaceNamespacedLease({
      ...place,
      body: { metadata: created.metadata!, spec: { holderIdentity: 'b' } },
    })
    const stale = await leases.replaceNamespacedLease({ ...place, body: created }).catch((error: unknown) => error)

    expect((stale as ApiException<unknown>).code).to.equal(409)
    expect(server.get('leases', 'leader', 'default')?.spec).to.include({ holderIdentity: 'b' })
  })

  it('writes Events', async () => {
    await config.makeApiClient(EventsV1Api).createNamespacedEvent({
      namespace: 'default',
      body: {
        metadata: { generateName: 'data-' },
        eventTime: new V1MicroTime(),
        regarding: { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' },
        action: 'Tag',
        reason: 'Tagged',
        note: 'wrote 3 tags',
        type: 'Normal',
        reportingController: 'k8s-cloud-tagger',
        reportingInstance: 'pod-1',
      },
    })

    expect(server.events().map(({ reason }) => reason)).to.deep.equal(['Tagged'])
  })

  it('watches, bookmarks included, until the server ends it', async () => {
    await server.stop()
    server = await EmbeddedKubernetes.start({ bookmarkIntervalMs: 20 })
    config.loadFromString(server.kubeconfigText('admin'))
    await server.createClaim({ name: 'data' })
    const seen: string[] = []

    await new Promise<void>((resolve, reject) => {
      const onEvent = (phase: string, object: { readonly metadata: { readonly name?: string } }): void => {
        seen.push(`${phase} ${object.metadata.name ?? ''}`)
        if (phase === 'BOOKMARK') server.watches.end()
      }
      const onDone = (error: unknown): void => (error === null ? resolve() : reject(error))
      const query = { allowWatchBookmarks: true }
      new Watch(config).watch('/api/v1/persistentvolumeclaims', query, onEvent, onDone).catch(reject)
    })

    expect(seen).to.deep.equal(['ADDED data', 'BOOKMARK '])
  })

  it('works from a kubeconfig file, as the user whom it was made for', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'))
    const path = await server.kubeconfigFor('system:serviceaccount:tagger:webhook', folder)
    config.loadFromFile(path)

    await config.makeApiClient(CoreV1Api).listPersistentVolume()
    await rm(folder, { recursive: true })

    expect(path).to.equal(join(folder, 'system-serviceaccount-tagger-webhook.kubeconfig'))
    expect(server.log.count({ user: 'system:serviceaccount:tagger:webhook', verb: 'list' })).to.equal(1)
  })
})
