import { expect } from 'chai'
import { EmbeddedKubernetes } from './embedded-kubernetes.ts'
import type { JsonObject, KubeObject } from './objects.ts'
import { jsonPatch, mergePatch, type PlainAnswer, PlainClient } from './plain-client.ts'

const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'

describe('EmbeddedKubernetes', () => {
  let server: EmbeddedKubernetes
  let client: PlainClient

  beforeEach(async () => {
    server = await EmbeddedKubernetes.start()
    client = new PlainClient(server)
  })

  afterEach(async () => {
    client.close()
    await server.stop()
  })

  describe('creating', () => {
    it('fills in what the API server fills in', async () => {
      const { code, body } = await client.post(claims, claimNamed('data'))

      expect(code).to.equal(201)
      const { metadata, spec, status, kind } = asObject(body)
      expect(kind).to.equal('PersistentVolumeClaim')
      expect(metadata.uid).to.match(/^[0-9a-f-]{36}$/)
      expect(metadata.resourceVersion).to.match(/^\d+$/)
      expect(metadata.creationTimestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(metadata.namespace).to.equal('default')
      expect(spec?.['volumeMode']).to.equal('Filesystem')
      expect(status).to.deep.equal({ phase: 'Pending' })
    })

    it('makes up a name from generateName', async () => {
      const { body } = await client.post(claims, { ...claimNamed(''), metadata: { generateName: 'data-' } })

      expect(asObject(body).metadata.name).to.match(/^data-[a-z0-9]{5}$/)
    })

    it('believes no status, uid or time that a client sends', async () => {
      const metadata = { name: 'data', uid: 'mine', creationTimestamp: '2020-01-01T00:00:00Z' }

      const { body } = await client.post(claims, { ...claimNamed(''), metadata, status: { phase: 'Bound' } })

      expect(asObject(body).metadata.uid).to.not.equal('mine')
      expect(asObject(body).metadata.creationTimestamp).to.not.equal('2020-01-01T00:00:00Z')
      expect(asObject(body).status).to.deep.equal({ phase: 'Pending' })
    })

    it('refuses a second object of the same name', async () => {
      await client.post(claims, claimNamed('data'))

      const answer = await client.post(claims, claimNamed('data'))

      expectStatus(answer, 409, 'AlreadyExists', 'persistentvolumeclaims "data" already exists')
    })

    it('refuses an object in a namespace that is not there', async () => {
      const answer = await client.post(claims.replace('default', 'nope'), claimNamed('data'))

      expectStatus(answer, 404, 'NotFound', 'namespaces "nope" not found')
    })

    it('refuses invalid names, labels and specs with the fields at fault', async () => {
      const bad = { ...claimNamed(''), metadata: { name: 'a_b', labels: { team: 'no spaces' } }, spec: {} }

      const { code, body } = await client.post(claims, bad)

      expect(code).to.equal(422)
      const { causes } = body['details'] as { causes: { field: string }[] }
      expect(causes.map(({ field }) => field)).to.deep.equal([
        'metadata.name',
        'metadata.labels',
        'spec.accessModes',
        'spec.resources[storage]',
      ])
    })

    it('stores nothing on a dry run', async () => {
      const { code, body } = await client.post(`${claims}?dryRun=All`, claimNamed('data'))

      expect(code).to.equal(201)
      expect(asObject(body).metadata).to.include.keys('uid').and.to.not.include.keys('resourceVersion')
      expect((await client.get(`${claims}/data`)).code).to.equal(404)
    })

    it('labels a namespace with its name', async () => {
      await client.post('/api/v1/namespaces', { metadata: { name: 'shop', labels: { team: 'core' } } })

      expect(server.get('namespaces', 'shop')?.metadata.labels).to.deep.equal({
        team: 'core',
        'kubernetes.io/metadata.name': 'shop',
      })
    })
  })

  describe('updating', () => {
    it('refuses an update from a stale version', async () => {
      const stale = asObject((await client.post(claims, claimNamed('data'))).body)
      await server.setLabels('default', 'data', { a: '1' })

      const answer = await client.put(`${claims}/data`, stale)

      expectStatus(
        answer,
        409,
        'Conflict',
        'Operation cannot be fulfilled on persistentvolumeclaims "data": the object has been modified; ' +
          'please apply your changes to the latest version and try again',
      )
    })

    it('accepts one from the present version, and one that names none', async () => {
      const current = asObject((await client.post(claims, claimNamed('data'))).body)
      const relabelled = { ...current, metadata: { ...current.metadata, labels: { a: '1' } } }

      const first = await client.put(`${claims}/data`, relabelled)
      const second = await client.put(`${claims}/data`, { ...claimNamed('data'), metadata: { name: 'data' } })

      expect(asObject(first.body).metadata.labels).to.deep.equal({ a: '1' })
      expect(second.code).to.equal(200)
      expect(asObject(second.body).metadata.uid).to.equal(current.metadata.uid)
    })

    it('refuses an update of another object of the same name', async () => {
      await client.post(claims, claimNamed('data'))

      const answer = await client.put(`${claims}/data`, { ...claimNamed('data'), metadata: { name: 'data', uid: 'x' } })

      expect(answer.code).to.equal(409)
    })

    it('gives one counter to all resources, and no new version to a write that changes nothing', async () => {
      const claim = asObject((await client.post(claims, claimNamed('data'))).body)
      const volume = await server.createVolume({ name: 'pv-1' })

      const same = await client.patch(`${claims}/data`, { metadata: { labels: claim.metadata.labels } })

      expect(Number(volume.metadata.resourceVersion)).to.equal(Number(claim.metadata.resourceVersion) + 1)
      expect(asObject(same.body).metadata.resourceVersion).to.equal(claim.metadata.resourceVersion)
    })

    it('keeps the status out of the main resource and the spec out of /status', async () => {
      await client.post(claims, claimNamed('data'))

      const main = await client.patch(`${claims}/data`, { status: { phase: 'Bound' } })
      const status = await client.patch(`${claims}/data/status`, {
        metadata: { labels: { through: 'status' } },
        spec: { volumeName: 'pv-1' },
        status: { phase: 'Lost' },
      })

      expect(asObject(main.body).status).to.deep.equal({ phase: 'Pending' })
      expect(asObject(status.body).status).to.deep.equal({ phase: 'Lost' })
      expect(asObject(status.body).spec).to.not.have.property('volumeName')
      // Labels pass through /status, on the real API server too.
      expect(asObject(status.body).metadata.labels).to.include({ through: 'status' })
    })

    it("lets a claim's spec change only where the API server does", async () => {
      await client.post(claims, claimNamed('data'))
      const patchSpec = async (spec: object): Promise<number> => (await client.patch(`${claims}/data`, { spec })).code
      const larger = { resources: { requests: { storage: '2Gi' } } }

      expect(await patchSpec(larger)).to.equal(422)
      expect(await patchSpec({ volumeName: 'pv-1' })).to.equal(200)
      expect(await patchSpec({ volumeName: 'pv-2' })).to.equal(422)
      await client.patch(`${claims}/data/status`, { status: { phase: 'Bound' } })
      expect(await patchSpec(larger)).to.equal(200)
    })

    it('wants the version of a Lease, and its times to the microsecond', async () => {
      const lease = (renewTime: string): JsonObject => ({ metadata: { name: 'leader' }, spec: { renewTime } })

      expectStatus(
        await client.post(leases, lease('2026-01-01T00:00:00Z')),
        400,
        'BadRequest',
        'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00Z" ' +
          'as "2006-01-02T15:04:05.000000Z07:00"',
      )
      expect((await client.post(leases, lease('2026-01-01T00:00:00.000000Z'))).code).to.equal(201)
      expect((await client.put(`${leases}/leader`, lease('2026-01-01T00:00:01.000000Z'))).code).to.equal(422)
    })
  })

  describe('patching', () => {
    beforeEach(async () => {
      await client.post(claims, claimNamed('data'))
    })

    it('merges, and removes with null', async () => {
      const { body } = await client.patch(`${claims}/data`, { metadata: { labels: { team: null, tier: 'db' } } })

      expect(asObject(body).metadata.labels).to.deep.equal({ tier: 'db' })
    })

    it('takes a strategic merge patch for a merge patch', async () => {
      const patch = { metadata: { labels: { tier: 'db' }, $retainKeys: [] } }

      const { body } = await client.patch(`${claims}/data`, patch, 'application/strategic-merge-patch+json')

      expect(asObject(body).metadata.labels).to.deep.equal({ team: 'core', tier: 'db' })
      expect(asObject(body).metadata).to.not.have.property('$retainKeys')
    })

    it('applies a JSON patch, and nothing of one whose test fails', async () => {
      const add = { op: 'add', path: '/metadata/labels/tier', value: 'db' }
      const guarded = (uid: string): JsonObject[] => [{ op: 'test', path: '/metadata/uid', value: uid }, add]
      const { uid } = server.get('persistentvolumeclaims', 'data', 'default')!.metadata

      const refused = await client.patch(`${claims}/data`, guarded('other'), jsonPatch)
      const applied = await client.patch(`${claims}/data`, guarded(uid), jsonPatch)

      expectStatus(refused, 422, 'Invalid', 'the server rejected our request due to an error in our request')
      expect(asObject(applied.body).metadata.labels).to.deep.equal({ team: 'core', tier: 'db' })
    })

    it('forgets a map that became empty, so that a patch into it fails', async () => {
      await client.patch(`${claims}/data`, [{ op: 'remove', path: '/metadata/labels/team' }], jsonPatch)

      const into = await client.patch(
        `${claims}/data`,
        [{ op: 'add', path: '/metadata/labels/a', value: 'b' }],
        jsonPatch,
      )

      expect(into.code).to.equal(422)
      expect(server.get('persistentvolumeclaims', 'data', 'default')?.metadata).to.not.have.property('labels')
    })

    it('refuses a stale version, a foreign uid, another type, and an object that is not there', async () => {
      const code = async (patch: object, path = 'data', type = mergePatch): Promise<number> =>
        (await client.patch(`${claims}/${path}`, patch, type)).code

      expect(await code({ metadata: { resourceVersion: '1' } })).to.equal(409)
      expect(await code({ metadata: { uid: 'x' } })).to.equal(422)
      expect(await code({}, 'data', 'application/json')).to.equal(415)
      expect(await code({}, 'none')).to.equal(404)
    })
  })

  describe('deleting', () => {
    it('removes at once what no finalizer holds', async () => {
      await client.post(claims, claimNamed('data'))

      const answer = await client.delete(`${claims}/data`)

      expect(answer.code).to.equal(200)
      expectStatus(await client.get(`${claims}/data`), 404, 'NotFound', 'persistentvolumeclaims "data" not found')
    })

    it('marks what a finalizer holds, and removes it with the last finalizer', async () => {
      const body = claimNamed('data')
      await client.post(claims, { ...body, metadata: { name: 'data', finalizers: ['example.com/hold'] } })

      const deleted = await client.delete(`${claims}/data`)
      const held = await client.get(`${claims}/data`)
      await client.patch(`${claims}/data`, { metadata: { finalizers: [] } })

      expect(asObject(deleted.body).metadata.deletionTimestamp).to.be.a('string')
      expect(held.code).to.equal(200)
      expect((await client.get(`${claims}/data`)).code).to.equal(404)
    })

    it('heeds preconditions and dry runs', async () => {
      await client.post(claims, claimNamed('data'))

      const foreign = await client.delete(`${claims}/data`, { preconditions: { uid: 'x' } })
      const dry = await client.delete(`${claims}/data?dryRun=All`)

      expect(foreign.code).to.equal(409)
      expect(dry.code).to.equal(200)
      expect((await client.get(`${claims}/data`)).code).to.equal(200)
    })

    it('removes a whole selection', async () => {
      for (const name of ['a', 'b']) await client.post(claims, claimNamed(name))
      await server.setLabels('default', 'b', { team: 'edge' })

      await client.delete(`${claims}?labelSelector=team%3Dcore`)

      expect(server.list('persistentvolumeclaims').map(({ metadata }) => metadata.name)).to.deep.equal(['b'])
    })
  })

  describe('events', () => {
    const event = {
      metadata: { name: 'data.1' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      regarding: { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' },
      reason: 'Tagged',
      action: 'Tag',
      note: 'wrote 3 tags',
      type: 'Normal',
      reportingController: 'k8s-cloud-tagger',
      reportingInstance: 'pod-1',
    }
    const path = '/apis/events.k8s.io/v1/namespaces/default/events'

    it('are one object under both APIs', async () => {
      await client.post(path, event)

      const { body } = await client.get('/api/v1/namespaces/default/events/data.1')

      expect(body).to.deep.include({
        apiVersion: 'v1',
        message: 'wrote 3 tags',
        involvedObject: event.regarding,
        reportingComponent: 'k8s-cloud-tagger',
      })
      expect(server.events().map(({ apiVersion, note }) => ({ apiVersion, note }))).to.deep.equal([
        { apiVersion: 'events.k8s.io/v1', note: 'wrote 3 tags' },
      ])
    })

    it('keep their note, and can be counted on', async () => {
      await client.post(path, event)
      const series = { count: 2, lastObservedTime: '2026-01-01T00:01:00.000000Z' }

      expect((await client.patch(`${path}/data.1`, { note: 'other' })).code).to.equal(422)
      expect((await client.patch(`${path}/data.1`, { series })).body).to.deep.include({ series })
    })

    it('are refused without a time, with a long note, or of an unknown type', async () => {
      const { code, body } = await client.post(path, {
        metadata: { name: 'bad' },
        note: 'x'.repeat(1025),
        type: 'Info',
      })

      expect(code).to.equal(422)
      expect(body['message']).to.contain('eventTime').and.to.contain('1024 characters').and.to.contain('Info')
    })
  })

  describe('discovery', () => {
    it('lists groups, resources and the version', async () => {
      const core = await client.get('/api/v1')
      const groups = await client.get('/apis')

      const { resources } = core.body as { resources: { name: string; namespaced: boolean }[] }
      expect(resources.map(({ name }) => name)).to.include.members([
        'persistentvolumeclaims',
        'persistentvolumeclaims/status',
        'persistentvolumes',
        'namespaces',
      ])
      expect((groups.body['groups'] as { name: string }[]).map(({ name }) => name)).to.include('storage.k8s.io')
      expect((await client.get('/version')).body['minor']).to.equal('34')
      expect((await client.get('/readyz')).body).to.deep.equal({ text: 'ok' })
    })

    it('says what it does not serve', async () => {
      expect((await client.get('/api/v1/nonsense')).code).to.equal(404)
      expect((await client.get('/apis/none.example/v1/things')).code).to.equal(404)
      expect((await client.get('/api/v1/persistentvolumeclaims/data')).code).to.equal(404)
      expect((await client.post(`${claims}/data`, claimNamed('data'))).code).to.equal(405)
    })
  })
})

function claimNamed(name: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, labels: { team: 'core' } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
}

function asObject(body: JsonObject): KubeObject {
  return body as KubeObject
}

function expectStatus(answer: PlainAnswer, code: number, reason: string, message: string): void {
  expect(answer.code).to.equal(code)
  expect(answer.body).to.deep.include({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message })
}
