import { cp, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { ensureBinaries, type Binaries } from '../binaries.ts'
import { runCommand } from '../commands.ts'
import type { Kube } from '../kube.ts'
import { scenarioFolder } from '../scenario-folder.ts'
import { databaseWithVolumes } from '../test-bed/stateful-set.ts'
import { startTestBed, type TestBed } from '../test-bed/test-bed.ts'
import { servedToApiServer } from '../test-bed/webhook-trust.ts'
import { until } from '../until.ts'

const charts = path.join(import.meta.dirname, '..', '..', '..', 'charts')
const overlay = path.join(import.meta.dirname, '..', '..', 'manifests', 'kustomize')
const users = 'users'
const names = ['kubectl', 'kustomize', 'helm4'] as const

/** The pipeline of whoever keeps rendered manifests in Git: no Helm release, other names, another namespace. */
describe('helm template | kustomize build | kubectl apply --server-side', () => {
  let bed: TestBed
  let kube: Kube
  let binaries: Binaries<(typeof names)[number]>
  let manifests: string

  before('starts', async () => {
    const dir = scenarioFolder('kustomize')
    bed = await startTestBed({ dir })
    ;({ kube } = bed.cluster)
    binaries = await ensureBinaries(names)
    await kube.createNamespace(users)
    manifests = await render(path.join(dir, 'kustomize'))
  })

  after('stops', async () => {
    await kube?.namespaces.delete({ name: users })
    await bed?.stop()
  })

  /** The release and its namespace are called as the files of charts/kustomize expect. */
  async function render(folder: string): Promise<string> {
    const pipeline = path.join(folder, 'pipeline')
    await cp(overlay, pipeline, { recursive: true })
    await cp(path.join(charts, 'kustomize', 'names'), path.join(folder, 'names'), { recursive: true })
    for (const file of ['names.yaml', 'references.yaml']) {
      await cp(path.join(charts, 'kustomize', 'base', file), path.join(pipeline, file))
    }
    const name = 'k8s-cloud-tagger'
    const flags = ['--namespace', name, '--values', bed.valuesFile]
    const { stdout } = await runCommand(binaries.helm4, ['template', name, path.join(charts, name), ...flags])
    await writeFile(path.join(pipeline, 'rendered.yaml'), stdout)
    return (await runCommand(binaries.kustomize, ['build', pipeline])).stdout
  }

  const kubectl = (args: readonly string[], accepted: readonly number[] = [0]) => {
    const flags = [`--kubeconfig=${bed.cluster.kubeconfigPath}`, ...args]
    return runCommand(binaries.kubectl, flags, { input: manifests, accepted })
  }
  const apply = () => kubectl(['apply', '--server-side', '--filename=-'])

  it('installs under the new names: ready, trusted, and tagging', async () => {
    await apply()

    for (const program of ['webhook', 'reconciler']) {
      const name = `deployment/fleet-k8s-cloud-tagger-${program}`
      await kubectl(['rollout', 'status', '--namespace=platform', name, '--timeout=90s'])
    }
    const served = await servedToApiServer(bed, 'fleet-k8s-cloud-tagger')
    expect(served.subjectaltname).to.include('DNS:fleet-k8s-cloud-tagger-webhook.platform.svc')
    await kube
      .resourceOf('StatefulSet')
      .create(databaseWithVolumes(users, { storageClassName: bed.storageClassName, claimLabels: { team: 'core' } }))
    const claim = await kube.waitUntilBound({ namespace: users, name: 'data-db-0' }, { timeoutMs: 60_000 })
    const volume = await kube.volumes.get({ name: claim.spec.volumeName ?? '' })
    const disk = volume.spec.csi?.volumeHandle ?? ''
    await until('the volume is tagged', () => bed.ec2.hasVolume(disk) && 'team' in bed.ec2.tagsOf(disk))
  })

  it('leaves the policy in force for the accounts under their new names', async () => {
    const user = 'system:serviceaccount:platform:fleet-k8s-cloud-tagger-webhook'
    const volumes = await kube.volumes.list()
    const volume = volumes.find(({ spec }) => spec.claimRef?.namespace === users)
    const change = ['label', 'persistentvolume', volume?.metadata.name ?? '', 'touched=yes', `--as=${user}`]

    const { stderr } = await kubectl(change, [1])

    expect(stderr).to.include('may not change a volume')
  })

  it('differs in nothing afterwards, with the authority in place that cert-manager put there', async () => {
    const { stdout } = await kubectl(['diff', '--server-side', '--filename=-'], [0, 1])

    expect(stdout).to.equal('')
  })

  it('changes nothing when it is applied again', async () => {
    const before = await versions()

    await apply()

    expect(await versions()).to.deep.equal(before)
    expect(before.length).to.be.above(15)
  })

  it('takes everything away that it brought', async () => {
    await kubectl(['delete', '--filename=-', '--wait', '--timeout=90s'])

    for (const kind of ['ValidatingWebhookConfiguration', 'ValidatingAdmissionPolicy', 'ClusterRole']) {
      const left = await kube.resourceOf(kind).list()
      expect(left.filter(({ metadata }) => metadata.name.startsWith('fleet-'))).to.deep.equal([])
    }
  })

  async function versions(): Promise<readonly string[]> {
    const columns = '--output=custom-columns=KIND:.kind,NAME:.metadata.name,VERSION:.metadata.resourceVersion'
    const { stdout } = await kubectl(['get', '--filename=-', '--no-headers', columns])
    return stdout.trim().split('\n')
  }
})
