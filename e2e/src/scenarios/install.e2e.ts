import { X509Certificate } from 'node:crypto'
import path from 'node:path'
import { expect } from 'chai'
import { ensureBinaries } from '../binaries.ts'
import { ClaimLoad, webhookCalls } from '../claim-load.ts'
import { HelmRelease } from '../helm-release.ts'
import type { Kube } from '../kube.ts'
import type { KubeObject, Stored } from '../kube-objects.ts'
import { databaseWithVolumes } from '../test-bed/stateful-set.ts'
import { startTestBed, type TestBed } from '../test-bed/test-bed.ts'
import { servedToApiServer } from '../test-bed/webhook-trust.ts'
import { until } from '../until.ts'
import { scenarioFolder } from '../scenario-folder.ts'
import { newClaim } from '../volumes.ts'

const chart = path.join(import.meta.dirname, '..', '..', '..', 'charts', 'k8s-cloud-tagger')
const webhookName = 'claims.webhook.k8s-cloud-tagger'
const instance = 'app.kubernetes.io/instance=tagger'
const namespace = 'tagger-system'
const users = 'users'

let bed: TestBed
let kube: Kube

describe('the chart, installed', () => {
  before('starts', async () => {
    bed = await startTestBed({ dir: scenarioFolder('install') })
    ;({ kube } = bed.cluster)
  })

  after('stops', async () => {
    await bed?.stop()
  })

  describe('by Helm 4', () => describeInstallation('helm4'))

  describe('by Helm 3', () => describeInstallation('helm3'))
})

function describeInstallation(helm: 'helm3' | 'helm4'): void {
  let release: HelmRelease

  before('gets ready', async () => {
    const binaries = await ensureBinaries([helm], console.log)
    release = new HelmRelease({
      helm: binaries[helm],
      kubeconfigPath: bed.cluster.kubeconfigPath,
      name: 'tagger',
      namespace,
      chart,
      values: [bed.valuesFile],
    })
    await kube.createNamespace(users)
  })

  after('leaves the cluster as it was', async () => {
    for (const name of [users, namespace]) await kube.namespaces.delete({ name })
    for (const name of [users, namespace]) await kube.namespaces.waitUntilGone({ name }, { timeoutMs: 60_000 })
  })

  it('is ready after one command', async () => {
    await release.install()

    const pods = await kube.resourceOf('Pod').list(namespace, { labelSelector: instance })
    expect(pods.map((pod) => componentOf(pod)).sort()).to.deep.equal(['reconciler', 'webhook', 'webhook'])
    expect(pods.every(isReady), 'every pod is ready').to.equal(true)
  })

  it('answers with a certificate that cert-manager issued and the API server trusts', async () => {
    const served = await servedToApiServer(bed, 'tagger-k8s-cloud-tagger')
    const secret = await secretOf('webhook-tls')

    expect(served.raw.equals(secret.raw), 'served is what is in the Secret').to.equal(true)
    expect(served.subjectaltname).to.include(`DNS:tagger-k8s-cloud-tagger-webhook.${namespace}.svc`)
  })

  it('tags the volumes of a StatefulSet’s pods from the labels of its claim template', async () => {
    const labels = { team: 'core', 'app.kubernetes.io/name': 'db' }
    await kube
      .resourceOf('StatefulSet')
      .create(databaseWithVolumes(users, { storageClassName: bed.storageClassName, claimLabels: labels }))

    for (const name of ['data-db-0', 'data-db-1']) {
      const claim = await kube.waitUntilBound({ namespace: users, name }, { timeoutMs: 60_000 })
      const volume = await kube.volumes.get({ name: claim.spec.volumeName ?? '' })
      const disk = volume.spec.csi?.volumeHandle ?? ''
      await until(`${name} is tagged`, async () => bed.ec2.hasVolume(disk) && 'team' in bed.ec2.tagsOf(disk))
      // Its selector is the StatefulSet controller's own addition to the template.
      expect(bed.ec2.tagsOf(disk)).to.deep.equal({ app: 'db', ...labels })
    }
    if (!bed.mountsVolumes) return
    const pods = kube.resourceOf('Pod')
    await pods.waitForCount({ namespace: users, count: 2, labelSelector: 'app=db' }, 'run with its volume', isReady)
  })

  it('renews its certificate, and then the authority behind it, without a failed call', async () => {
    const before = await webhookCalls(kube, webhookName)
    const load = new ClaimLoad(kube, { namespace: users })

    await load.more(20)
    await renewed('webhook')
    await renewed('ca')
    await renewed('webhook')
    await load.more(20)

    await expectNoneFailed(before, await load.stop())
    await kube.claims.deleteAll(users)
  })

  it('replaces its pods by an upgrade and a rollback without a failed call', async () => {
    const before = await webhookCalls(kube, webhookName)
    const load = new ClaimLoad(kube, { namespace: users })

    await release.upgrade('--set', 'podAnnotations.upgrade=two')
    const upgraded = await kube.resourceOf('Pod').list(namespace, { labelSelector: instance })
    await release.rollback(1)
    await load.more(20)

    await expectNoneFailed(before, await load.stop())
    expect(upgraded.some((pod) => pod.metadata.annotations?.['upgrade'] === 'two')).to.equal(true)
    await kube.claims.deleteAll(users)
  })

  it('leaves nothing behind that a claim could wait for', async () => {
    await release.uninstall()

    for (const kind of clusterWide) {
      const left = await kube.resourceOf(kind).list(undefined, { labelSelector: instance })
      expect(left, `${kind} of the release`).to.have.lengthOf(0)
    }
    const startMs = performance.now()
    const claim = await kube.claims.create(newClaim('after', { namespace: users }))
    // Less than a call to a webhook that is not there would take.
    expect(performance.now() - startMs).to.be.below(2000)
    await kube.claims.delete(claim)
    await kube.claims.waitUntilGone(claim)
  })
}

const clusterWide = [
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ClusterRole',
  'ClusterRoleBinding',
]

async function expectNoneFailed(before: Awaited<ReturnType<typeof webhookCalls>>, created: number): Promise<void> {
  const after = await webhookCalls(kube, webhookName)
  expect(after.made - before.made, 'calls to the webhook').to.be.at.least(created)
  expect(after.failed - before.failed, 'calls that failed').to.equal(0)
  expect(after.failedOpen - before.failedOpen, 'claims that went on without an answer').to.equal(0)
}

/** Has cert-manager issue a certificate of ours again, and waits until the webhook serves what came of it. */
async function renewed(which: 'ca' | 'webhook'): Promise<void> {
  const ref = { namespace, name: `tagger-k8s-cloud-tagger-${which}` }
  const before = await secretOf(which === 'ca' ? 'ca' : 'webhook-tls')
  const condition = {
    type: 'Issuing',
    status: 'True',
    reason: 'ManuallyTriggered',
    message: 'asked for by a test',
    lastTransitionTime: new Date().toISOString(),
  }
  const certificates = kube.resourceOf('Certificate')
  const current = (await certificates.get(ref)) as Stored<KubeObject> & { readonly status: { conditions: object[] } }
  const conditions = [...current.status.conditions, condition]
  await certificates.patch(ref, { status: { conditions } }, { subresource: 'status' })
  const isNew = async () => !(await secretOf(which === 'ca' ? 'ca' : 'webhook-tls')).raw.equals(before.raw)
  await until(`cert-manager renews ${ref.name}`, isNew)
  if (which === 'ca') return
  await until('the webhook serves its new certificate', async () => {
    const [served, issued] = await Promise.all([
      servedToApiServer(bed, 'tagger-k8s-cloud-tagger'),
      secretOf('webhook-tls'),
    ])
    return served.raw.equals(issued.raw)
  })
}

async function secretOf(suffix: string): Promise<X509Certificate> {
  const secret = (await kube.resourceOf('Secret').get({
    namespace,
    name: `tagger-k8s-cloud-tagger-${suffix}`,
  })) as Stored<KubeObject> & { readonly data: Readonly<Record<string, string>> }
  return new X509Certificate(Buffer.from(secret.data['tls.crt'] ?? '', 'base64'))
}

function componentOf(pod: KubeObject): string {
  return pod.metadata.labels?.['app.kubernetes.io/component'] ?? ''
}

function isReady(pod: KubeObject): boolean {
  const { status } = pod as KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } }
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true
}

interface Condition {
  readonly type: string
  readonly status: string
}
