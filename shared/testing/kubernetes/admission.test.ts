import { expect } from 'chai'
import { CertificateAuthority } from '../certificates.ts'
import { FakeClock } from '../fake-clock.ts'
import { EmbeddedKubernetes, type EmbeddedOptions } from './embedded-kubernetes.ts'
import { childOf, type JsonObject, type KubeObject } from './objects.ts'
import { PlainClient } from './plain-client.ts'
import { ScriptedWebhook } from './scripted-webhook.ts'

const claims = '/api/v1/namespaces/shop/persistentvolumeclaims'
const hookName = 'tags.example.com'

describe('admission', () => {
  let authority: CertificateAuthority
  let clock: FakeClock
  let server: EmbeddedKubernetes
  let client: PlainClient
  let hook: ScriptedWebhook

  before(async () => {
    authority = await CertificateAuthority.create()
  })

  beforeEach(async () => {
    clock = new FakeClock()
    hook = await ScriptedWebhook.start(authority, ['hook.tagger.svc', '127.0.0.1'])
    await start()
  })

  afterEach(async () => {
    await stop()
    await hook.stop()
  })

  const start = async (options: EmbeddedOptions = {}): Promise<void> => {
    server = await EmbeddedKubernetes.start({ clock, ...options })
    server.mapService('tagger', 'hook', { port: hook.port })
    await server.createNamespace('shop', { env: 'prod' })
    client = new PlainClient(server)
  }

  const stop = async (): Promise<void> => {
    client.close()
    await server.stop()
  }

  const register = async (webhook: JsonObject = {}, kind: 'Validating' | 'Mutating' = 'Validating'): Promise<void> => {
    const service = { name: 'hook', namespace: 'tagger', path: '/review' }
    const caBundle = Buffer.from(authority.certificate).toString('base64')
    const resource = `${kind.toLowerCase()}webhookconfigurations`
    await server.create(resource, {
      metadata: { name: `hook-${kind.toLowerCase()}` },
      webhooks: [
        {
          name: hookName,
          clientConfig: { service, caBundle },
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              resources: ['persistentvolumeclaims'],
              operations: ['CREATE', 'UPDATE'],
            },
          ],
          failurePolicy: 'Ignore',
          sideEffects: 'NoneOnDryRun',
          timeoutSeconds: 2,
          admissionReviewVersions: ['v1'],
          ...webhook,
        },
      ],
    })
  }

  describe('the request', () => {
    it('of a creation has the given name, the uid and no old object', async () => {
      await register()

      await client.post(claims, { ...claimNamed(''), metadata: { generateName: 'data-' } })

      const { uid, name, object, ...request } = hook.onlyRequest()
      expect(uid).to.match(/^[0-9a-f-]{36}$/)
      expect(name).to.match(/^data-[a-z0-9]{5}$/)
      const { metadata } = object as KubeObject
      expect(metadata).to.include.keys('uid', 'creationTimestamp').and.not.include.keys('resourceVersion')
      expect(metadata.name).to.equal(name)
      expect(request).to.deep.equal({
        kind: { group: '', version: 'v1', kind: 'PersistentVolumeClaim' },
        resource: { group: '', version: 'v1', resource: 'persistentvolumeclaims' },
        requestKind: { group: '', version: 'v1', kind: 'PersistentVolumeClaim' },
        requestResource: { group: '', version: 'v1', resource: 'persistentvolumeclaims' },
        namespace: 'shop',
        operation: 'CREATE',
        userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
        oldObject: null,
        dryRun: false,
        options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      })
    })

    it('of a mutating call for a creation has neither uid nor generated name', async () => {
      await register({}, 'Mutating')

      await client.post(claims, { ...claimNamed(''), metadata: { generateName: 'data-' } })

      const request = hook.onlyRequest()
      expect(request).to.not.have.property('name')
      expect((request['object'] as KubeObject).metadata).to.deep.equal({ generateName: 'data-', namespace: 'shop' })
    })

    it('of a patch is an UPDATE with both states', async () => {
      await client.post(claims, claimNamed('data'))
      await register()

      await client.patch(`${claims}/data?fieldManager=me`, { metadata: { labels: { team: 'edge' } } })

      const { object, oldObject, operation, name, options } = hook.onlyRequest()
      expect(operation).to.equal('UPDATE')
      expect(name).to.equal('data')
      expect((object as KubeObject).metadata.labels).to.deep.equal({ team: 'edge' })
      expect((oldObject as KubeObject).metadata.labels).to.deep.equal({ team: 'core' })
      expect((object as KubeObject).metadata.resourceVersion).to.equal(
        (oldObject as KubeObject).metadata.resourceVersion,
      )
      expect(options).to.deep.equal({ kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' })
    })

    it('of a binding is an UPDATE of the claim by the binder, when the volume is taken already', async () => {
      await client.post(claims, claimNamed('data'))
      await server.createVolume({ name: 'pv-1' })
      await register()
      let volumeAtCall: KubeObject | undefined
      hook.respond = () => {
        volumeAtCall = server.get('persistentvolumes', 'pv-1')
        return { allowed: true }
      }

      await server.bind('shop', 'data', 'pv-1')

      const { object, oldObject, operation, userInfo } = hook.onlyRequest()
      expect(operation).to.equal('UPDATE')
      expect(userInfo).to.deep.include({ username: 'system:serviceaccount:kube-system:persistent-volume-binder' })
      expect((oldObject as KubeObject).spec).to.not.have.property('volumeName')
      expect((object as KubeObject).spec).to.include({ volumeName: 'pv-1' })
      expect((object as KubeObject).status).to.deep.equal({ phase: 'Pending' })
      expect(childOf(volumeAtCall?.spec, 'claimRef')['uid']).to.equal((object as KubeObject).metadata.uid)
    })

    it('of a dry run says so', async () => {
      await register()

      await client.post(`${claims}?dryRun=All`, claimNamed('data'))

      expect(hook.onlyRequest()['dryRun']).to.be.true
    })

    it('of a deletion has the old object only', async () => {
      await client.post(claims, claimNamed('data'))
      await register({ rules: [ruleFor('DELETE')] })

      await client.delete(`${claims}/data`)

      expect(hook.onlyRequest()).to.deep.include({ operation: 'DELETE', object: null })
      expect((hook.onlyRequest()['oldObject'] as KubeObject).metadata.name).to.equal('data')
    })

    it('goes to the path of the Service over one pooled connection, with the time allowed', async () => {
      await register()

      for (const name of ['a', 'b', 'c']) await client.post(claims, claimNamed(name))

      expect(hook.urls).to.deep.equal(Array.from({ length: 3 }, () => '/review?timeout=2s'))
      expect(hook.connections).to.equal(1)
    })

    it('is sent before the object is stored', async () => {
      let storedMeanwhile: unknown
      hook.respond = () => {
        storedMeanwhile = server.get('persistentvolumeclaims', 'data', 'shop')
        return { allowed: true }
      }
      await register()

      await client.post(claims, claimNamed('data'))

      expect(storedMeanwhile).to.be.undefined
      expect(server.get('persistentvolumeclaims', 'data', 'shop')).to.not.be.undefined
    })
  })

  describe('a webhook is asked', () => {
    const cases: readonly (readonly [what: string, webhook: JsonObject, asked: boolean])[] = [
      ['when the namespace label is in its list', selectNamespaces('env', 'In', 'prod'), true],
      ['not when it is excluded', selectNamespaces('env', 'NotIn', 'prod'), false],
      [
        'not when the namespace is excluded by name',
        selectNamespaces('kubernetes.io/metadata.name', 'NotIn', 'shop'),
        false,
      ],
      ['when the object has the label', { objectSelector: { matchLabels: { team: 'core' } } }, true],
      ['not when the object has another one', { objectSelector: { matchLabels: { team: 'edge' } } }, false],
      ['not about an operation that its rules leave out', { rules: [ruleFor('UPDATE')] }, false],
      ['not about a resource that they leave out', { rules: [ruleFor('CREATE', 'persistentvolumes')] }, false],
      [
        'not about objects in namespaces with scope Cluster',
        { rules: [{ ...ruleFor('CREATE'), scope: 'Cluster' }] },
        false,
      ],
      ['about everything with stars', { rules: [ruleFor('*', '*')] }, true],
    ]

    for (const [what, webhook, asked] of cases) {
      it(what, async () => {
        await register(webhook)

        await client.post(claims, claimNamed('data'))

        expect(hook.requests).to.have.length(asked ? 1 : 0)
      })
    }

    it('about a subresource only where the rule names it', async () => {
      await client.post(claims, claimNamed('data'))
      await register({ rules: [ruleFor('UPDATE', 'persistentvolumeclaims/status')] })

      await client.patch(`${claims}/data`, { metadata: { labels: { a: '1' } } })
      await client.patch(`${claims}/data/status`, { status: { phase: 'Bound' } })

      expect(hook.onlyRequest()['subResource']).to.equal('status')
    })

    it('never about webhook configurations', async () => {
      await register({ rules: [{ ...ruleFor('*', '*'), apiGroups: ['*'] }] })

      await server.delete('validatingwebhookconfigurations', 'hook-validating')

      expect(hook.requests).to.be.empty
    })
  })

  describe('matchConditions', () => {
    const matchConditions = [{ name: 'moves', expression: 'object.metadata.labels != oldObject.metadata.labels' }]
    const restart = async (options: EmbeddedOptions): Promise<void> => {
      await stop()
      await start(options)
      await register({ matchConditions })
    }

    it('hold when nobody answers for them', async () => {
      await register({ matchConditions })

      await client.post(claims, claimNamed('data'))

      expect(hook.requests).to.have.length(1)
    })

    it('are answered by the test, and keep the webhook out', async () => {
      const asked: string[] = []
      await restart({
        matchCondition: (expression, { object, request }) => {
          asked.push(`${expression} ${object?.metadata.name} ${String(request['operation'])}`)
          return false
        },
      })

      await client.post(claims, claimNamed('data'))

      expect(asked).to.deep.equal(['object.metadata.labels != oldObject.metadata.labels data CREATE'])
      expect(hook.requests).to.be.empty
      expect(server.webhookCounts(hookName)).to.deep.include({ calls: 0, excluded: 1 })
    })

    it('that cannot be evaluated skip a webhook with Ignore', async () => {
      await restart({
        matchCondition: () => {
          throw new Error('no such key: labels')
        },
      })

      expect((await client.post(claims, claimNamed('data'))).code).to.equal(201)
      expect(server.webhookCounts(hookName)).to.deep.include({ calls: 0, failedOpen: 1 })
    })
  })

  describe('an answer', () => {
    it('that denies refuses the write in the words of the webhook, and stores nothing', async () => {
      hook.respond = () => ({ allowed: false, status: { code: 403, reason: 'Forbidden', message: 'no team' } })
      await register()

      const { code, body } = await client.post(claims, claimNamed('data'))

      expect(code).to.equal(403)
      expect(body).to.deep.include({
        reason: 'Forbidden',
        message: `admission webhook "${hookName}" denied the request: no team`,
      })
      expect(server.list('persistentvolumeclaims')).to.be.empty
      expect(server.webhookCounts(hookName)).to.deep.include({ calls: 1, denied: 1 })
    })

    it('that denies without a code or a word is a 400', async () => {
      hook.respond = () => ({ allowed: false, status: { code: 200 } })
      await register()

      const { code, body } = await client.post(claims, claimNamed('data'))

      expect(code).to.equal(400)
      expect(body['message']).to.equal(`admission webhook "${hookName}" denied the request without explanation`)
    })

    it('may warn, also when it allows', async () => {
      hook.respond = () => ({ allowed: true, warnings: ['label "a" is no tag', 'label "a" is no tag', 'more'] })
      await register()

      const { headers } = await client.post(claims, claimNamed('data'))

      expect(headers['warning']).to.equal(String.raw`299 - "label \"a\" is no tag", 299 - "more"`)
    })

    it('of a mutating webhook may patch, and the next one sees it', async () => {
      hook.respond = (request) => {
        const isMutating = (request['object'] as KubeObject).metadata.uid === undefined
        return isMutating
          ? patchResponse([{ op: 'add', path: '/metadata/labels/tier', value: 'db' }])
          : { allowed: true }
      }
      await register({}, 'Mutating')
      await register()

      const { body } = await client.post(claims, claimNamed('data'))

      expect((body as unknown as KubeObject).metadata.labels).to.deep.equal({ team: 'core', tier: 'db' })
      expect((hook.requests[1]!['object'] as KubeObject).metadata.labels).to.deep.equal({ team: 'core', tier: 'db' })
    })

    it('with a patch that does not apply is an internal error whatever the policy', async () => {
      hook.respond = () => patchResponse([{ op: 'add', path: '/metadata/annotations/a', value: 'b' }])
      await register({}, 'Mutating')

      expect((await client.post(claims, claimNamed('data'))).code).to.equal(500)
      expect(server.list('persistentvolumeclaims')).to.be.empty
    })
  })

  describe('a call fails', () => {
    const failures: readonly (readonly [when: string, respond: ScriptedWebhook['respond'], part: string])[] = [
      ['when the uid is another', () => ({ allowed: true, uid: 'x' }), 'expected response.uid='],
      ['when the kind is another', () => ({ allowed: true, kind: 'Foo' }), 'Kind=AdmissionReview'],
      ['when a validating webhook patches', () => patchResponse([]), 'may not return response.patch'],
      ['when the body is no JSON', () => 'garbage', 'json parse error'],
      ['when the status is not 2xx', () => 503, 'an error on the server'],
    ]

    for (const [when, respond, part] of failures) {
      it(`${when}: Ignore lets the write pass, Fail does not`, async () => {
        hook.respond = respond
        await register()

        const passed = await client.post(claims, claimNamed('a'))
        await server.delete('validatingwebhookconfigurations', 'hook-validating')
        await register({ failurePolicy: 'Fail' })
        const refused = await client.post(claims, claimNamed('b'))

        expect(passed.code).to.equal(201)
        expect(refused.code).to.equal(500)
        expect(refused.body['message']).to.contain(`failed calling webhook "${hookName}": `).and.to.contain(part)
        expect(server.webhookCounts(hookName)).to.deep.equal({
          calls: 2,
          failedOpen: 1,
          failedClosed: 1,
          denied: 0,
          excluded: 0,
        })
      })
    }

    it('when no answer comes within timeoutSeconds', async () => {
      hook.respond = () => 'never'
      await register({ failurePolicy: 'Fail' })

      const answer = client.post(claims, claimNamed('data'))
      await hook.asked()
      await clock.step(2000)

      expect((await answer).body['message']).to.contain('context deadline exceeded')
    })

    it('when nobody listens', async () => {
      server.mapService('tagger', 'hook', { port: 1 })
      await register({ failurePolicy: 'Fail' })

      expect((await client.post(claims, claimNamed('data'))).code).to.equal(500)
    })

    it('when the Service is not known', async () => {
      await register({ failurePolicy: 'Fail', clientConfig: { service: { name: 'none', namespace: 'tagger' } } })

      expect((await client.post(claims, claimNamed('data'))).body['message']).to.contain(
        'service "none.tagger" not found',
      )
    })

    it('when the certificate is of another authority', async () => {
      const other = Buffer.from((await CertificateAuthority.create()).certificate).toString('base64')
      const service = { name: 'hook', namespace: 'tagger' }
      await register({ failurePolicy: 'Fail', clientConfig: { service, caBundle: other } })

      expect((await client.post(claims, claimNamed('data'))).code).to.equal(500)
      expect(hook.requests).to.be.empty
    })

    it('when the certificate does not hold <service>.<namespace>.svc', async () => {
      const wrong = await ScriptedWebhook.start(authority, ['hook.tagger.svc.cluster.local', '127.0.0.1'])
      server.mapService('tagger', 'hook', { port: wrong.port })
      await register({ failurePolicy: 'Fail' })

      const { code } = await client.post(claims, claimNamed('data'))
      await wrong.stop()

      expect(code).to.equal(500)
      expect(wrong.requests).to.be.empty
    })
  })

  it('can be reached by URL instead of a Service', async () => {
    const caBundle = Buffer.from(authority.certificate).toString('base64')
    await register({ clientConfig: { url: `https://127.0.0.1:${hook.port}/by-url`, caBundle } })

    await client.post(claims, claimNamed('data'))

    expect(hook.urls).to.deep.equal(['/by-url?timeout=2s'])
  })

  it('asks again when the object changed meanwhile', async () => {
    await client.post(claims, claimNamed('data'))
    await register()
    hook.respond = async () => {
      if (hook.requests.length === 1) await server.setLabels('shop', 'data', { raced: 'yes' })
      return { allowed: true }
    }

    const { body } = await client.patch(`${claims}/data`, { metadata: { labels: { tier: 'db' } } })

    expect((body as unknown as KubeObject).metadata.labels).to.deep.equal({ team: 'core', raced: 'yes', tier: 'db' })
    expect(hook.requests).to.have.length(3)
  })
})

function ruleFor(operation: string, resource = 'persistentvolumeclaims'): JsonObject {
  return { apiGroups: [''], apiVersions: ['v1'], resources: [resource], operations: [operation] }
}

function selectNamespaces(key: string, operator: string, value: string): JsonObject {
  return { namespaceSelector: { matchExpressions: [{ key, operator, values: [value] }] } }
}

function patchResponse(patch: readonly unknown[]): JsonObject {
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
}

function claimNamed(name: string): JsonObject {
  return {
    metadata: { name, labels: { team: 'core' } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
}
