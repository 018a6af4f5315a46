import { expect } from 'chai'
import type { KubeObject } from '@k8s-cloud-tagger/shared/testing/kubernetes/objects.ts'
import { readInstallation } from './installation.ts'
import { standInFor } from './match-conditions.ts'

const base: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '', labels: { team: 'core' } },
  spec: { volumeName: 'pv-1' },
}

function changed(metadata: object, spec: object = {}): KubeObject {
  return { ...base, metadata: { ...base.metadata, ...metadata }, spec: { ...base.spec, ...spec } }
}

describe('the stand-in for match conditions', () => {
  const cases: readonly { when: string; object: KubeObject; operation?: string; called: boolean }[] = [
    { when: 'a claim is created', object: base, operation: 'CREATE', called: true },
    { when: 'nothing of interest changes', object: changed({ finalizers: ['x'] }), called: false },
    { when: 'a label changes', object: changed({ labels: { team: 'data' } }), called: true },
    { when: 'the last label goes', object: changed({ labels: undefined }), called: true },
    { when: 'an annotation comes', object: changed({ annotations: { a: 'b' } }), called: true },
    { when: 'the claim is bound', object: changed({}, { volumeName: 'pv-2' }), called: true },
    {
      when: 'the claim is being deleted',
      object: changed({ labels: {}, deletionTimestamp: '2026-01-02T03:04:05Z' }),
      called: false,
    },
  ]
  for (const { when, object, operation = 'UPDATE', called } of cases) {
    it(`${called ? 'calls' : 'spares'} the webhook when ${when}`, async () => {
      const { webhooks } = await readInstallation()
      const conditions = webhooks.flatMap(({ matchConditions = [] }) => matchConditions)
      const holds = standInFor(conditions)

      const all = conditions.every(({ expression }) =>
        holds(expression, { object, oldObject: base, request: { operation } }),
      )

      expect(all).to.equal(called)
    })
  }

  it('refuses a condition that it does not know', () => {
    expect(() => standInFor([{ name: 'new-one', expression: 'true' }])).to.throw(
      'no stand-in for the match condition new-one',
    )
  })
})

describe('the installation', () => {
  it('gives each account the rights of its roles, and those of a Role in its namespace only', async () => {
    const { namespace, users } = await readInstallation()

    const rights = (rules = users.reconciler.rules ?? []) =>
      rules.map(({ resources, namespace: place }) => `${resources.join()} in ${place ?? 'all'}`)
    expect(users.webhook.name).to.equal('system:serviceaccount:k8s-cloud-tagger:k8s-cloud-tagger-webhook')
    expect(rights()).to.include(`leases in ${namespace}`)
    expect(rights()).to.include('persistentvolumes in all')
    const leases = users.webhook.rules?.filter(({ resources }) => resources.includes('leases')) ?? []
    const onExisting = leases.filter(({ verbs }) => !verbs.includes('create'))
    expect(onExisting.map(({ resourceNames }) => resourceNames)).to.deep.equal([['k8s-cloud-tagger-budget']])
  })
})
