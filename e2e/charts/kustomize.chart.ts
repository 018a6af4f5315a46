import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { parseConfig } from '@k8s-cloud-tagger/shared/config/load-config.ts'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { kustomizeFiles } from '../../tools/kustomize-base.ts'
import { ensureBinaries } from '../src/binaries.ts'
import { objectsOf, type RenderedObject } from './helm.ts'
import { at } from './identity.ts'
import { faultsOf } from './kubeconform.ts'
import { overlayFaults } from './overlay-faults.ts'
import { chartTools, type ChartTools } from './tools.ts'

const run = promisify(execFile)
const folder = path.join(import.meta.dirname, '..', '..', 'charts', 'kustomize')
const overlays = globSync('overlays/*/clusters/*', { cwd: folder }).sort()
const release = 'k8s-cloud-tagger'
const withCertificates = ['cert-manager', 'aws']

/** What the components read; more than any of them needs. */
const settings = {
  apiVersion: 'kustomize.k8s-cloud-tagger/v1',
  kind: 'Settings',
  metadata: { name: 'settings', annotations: { 'config.kubernetes.io/local-config': 'true' } },
  clusterName: 'c1',
  aws: { region: 'eu-west-1', roleArn: 'arn:aws:iam::123456789012:role/tagger' },
  gcp: { project: 'my-project-1' },
  azure: { clientId: '11111111-2222-3333-4444-555555555555' },
  webhookSecret: { name: 'own-tls', caBundle: 'QUJD' },
}

/** Of each account, by component. */
const accountAnnotations: Readonly<Record<string, object>> = {
  'aws-role': { 'eks.amazonaws.com/role-arn': settings.aws.roleArn },
  azure: { 'azure.workload.identity/client-id': settings.azure.clientId },
}

interface Overlay {
  readonly components?: readonly string[]
  readonly namespace?: string
  readonly namePrefix?: string
  readonly nameSuffix?: string
  readonly followNames?: boolean
}

const changedNames: readonly Overlay[] = [
  {},
  { namespace: 'elsewhere' },
  { namePrefix: 'a-' },
  { nameSuffix: '-b' },
  { namespace: 'kube-tagging', namePrefix: 'team-x-' },
  { namespace: 'n'.repeat(63), namePrefix: 'p-', nameSuffix: '-s' },
]

describe('kustomize', () => {
  let tools: ChartTools
  let kustomize: string
  before('has the tools', async () => {
    tools = await chartTools()
    ;({ kustomize } = await ensureBinaries(['kustomize']))
  })

  const build = (target: string) => kustomizeBuild(kustomize, target)
  const buildOverlay = async (overlay: Overlay) => {
    const target = await mkdtemp(path.join(tools.scratch, 'overlay-'))
    await writeOverlay(target, overlay)
    return objectsOf(await build(target))
  }

  const chart = () => tools.helm4.render({ release, namespace: release })

  it('starts from what the chart renders', async () => {
    for (const [name, text] of Object.entries(kustomizeFiles(await chart()))) {
      expect(await readFile(path.join(folder, name), 'utf8'), `${name}: run 'node tools/kustomize-base.ts'`).to.equal(
        text,
      )
    }
  })

  it('makes of base and cert-manager the same objects as the chart does', async () => {
    const built = await buildOverlay({ components: ['cert-manager'] })

    const comparable = (objects: readonly RenderedObject[]) =>
      Object.fromEntries(
        objects.map((object) => [`${object.kind} ${withoutHash(object.metadata.name)}`, plain(object)]),
      )
    expect(comparable(built)).to.deep.equal(comparable(objectsOf(await chart())))
  })

  for (const overlay of overlays) {
    it(`builds a valid and coherent example: ${overlay}`, async () => {
      const built = await build(path.join(folder, overlay))

      const file = path.join(tools.scratch, 'overlay.yaml')
      await writeFile(file, built)
      expect(await faultsOf(tools.binaries.kubeconform, { ...tools, files: [file] })).to.deep.equal([])
      const objects = objectsOf(built)
      expect(overlayFaults(objects)).to.deep.equal([])
      expect(configOf(objects).clusterName).to.equal(path.basename(overlay))
      expect(await build(path.join(folder, overlay)), 'the second build').to.equal(built)
    })
  }

  it('has the examples of two fleets', () => {
    expect(new Set(overlays.map((overlay) => overlay.split('/')[1]))).to.have.property('size', 2)
  })

  for (const certificates of ['cert-manager', 'own-secret', 'webhook-off']) {
    for (const [cloud = '', ...more] of [['aws'], ['aws', 'aws-role'], ['gcp'], ['azure']]) {
      it(`keeps every name right, whatever name and namespace change: ${[certificates, cloud, ...more].join(', ')}`, async () => {
        for (const name of changedNames) {
          const objects = await buildOverlay({ ...name, components: [certificates, cloud, ...more, 'report-only'] })

          expect(overlayFaults(objects), JSON.stringify(name)).to.deep.equal([])
          const config = configOf(objects)
          expect([config.cloudProvider, config.clusterName, config.reportOnly]).to.deep.equal([cloud, 'c1', true])
          expect(config.webhook.enabled).to.equal(certificates !== 'webhook-off')
          const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount')
          expect(accounts).to.have.length(certificates === 'webhook-off' ? 1 : 2)
          for (const { metadata } of accounts)
            expect(metadata.annotations).to.deep.equal(accountAnnotations[more[0] ?? cloud])
        }
      })
    }
  }

  it('would not keep them without what carries them along', async () => {
    const objects = await buildOverlay({
      components: withCertificates,
      namespace: 'elsewhere',
      namePrefix: 'a-',
      followNames: false,
    })

    const faults = overlayFaults(objects).join('\n')

    expect(faults).to.include('the certificate is for k8s-cloud-tagger-webhook.k8s-cloud-tagger.svc')
    expect(faults).to.include('the CA is injected from k8s-cloud-tagger/k8s-cloud-tagger-webhook')
    expect(faults).to.include('a-k8s-cloud-tagger-webhook is free of the policy')
    expect(faults).to.include('the config does not exclude elsewhere')
  })

  it('writes the CA of an own Secret into the registration, and mounts that Secret', async () => {
    const objects = await buildOverlay({ components: ['own-secret', 'gcp'] })

    const registration = objects.find(({ kind }) => kind === 'ValidatingWebhookConfiguration')
    expect(at(registration, 'webhooks', 0, 'clientConfig', 'caBundle')).to.equal('QUJD')
    expect(JSON.stringify(objects)).to.include('"secretName":"own-tls"')
  })

  it('leaves nothing of the webhook where it is off', async () => {
    const objects = await buildOverlay({ components: ['webhook-off', 'gcp'], namePrefix: 'x-' })

    const left = objects.filter(({ metadata }) => metadata.name.includes('webhook'))
    expect(left.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).to.deep.equal([])
  })

  it('rolls the pods when the config changes, and only then', async () => {
    const mapOf = (objects: readonly RenderedObject[]) =>
      objects.find(({ kind }) => kind === 'ConfigMap')?.metadata.name
    const plainly = await buildOverlay({ components: withCertificates })
    const reporting = await buildOverlay({ components: [...withCertificates, 'report-only'] })
    const again = await buildOverlay({ components: withCertificates })

    expect(mapOf(reporting)).to.not.equal(mapOf(plainly))
    expect(mapOf(again)).to.equal(mapOf(plainly))
  })

  it('promises to overlays the names that its page lists', async () => {
    const page = readFileSync(path.join(folder, '..', '..', 'docs', 'kustomize.md'), 'utf8')

    const objects = await buildOverlay({ components: ['cert-manager'] })

    for (const { kind, metadata } of objects) {
      const name = withoutHash(metadata.name)
      expect(page, `${kind} ${name}`).to.match(new RegExp(`^\\|.*\`${kind}\`.*\\| \`${name}\``, 'mu'))
    }
    for (const name of [
      'webhook',
      'reconciler',
      'config',
      'certificate',
      'api-access',
      'claims.webhook.k8s-cloud-tagger',
    ]) {
      expect(page).to.include(`\`${name}\``)
    }
  })
})

async function kustomizeBuild(kustomize: string, target: string): Promise<string> {
  return (await run(kustomize, ['build', target], { maxBuffer: 16 * 1024 * 1024 })).stdout
}

async function writeOverlay(target: string, { components = [], followNames = true, ...names }: Overlay): Promise<void> {
  const from = (name: string) => path.relative(target, path.join(folder, name))
  const kustomization = {
    ...names,
    resources: [from('base'), 'settings.yaml'],
    components: components.map((name) => from(`components/${name}`)),
    ...(followNames && { transformers: [from('names')] }),
  }
  await writeFile(path.join(target, 'settings.yaml'), stringify(settings))
  await writeFile(path.join(target, 'kustomization.yaml'), stringify(kustomization))
}

function configOf(objects: readonly RenderedObject[]): ReturnType<typeof parseConfig> {
  const map = objects.find(({ kind }) => kind === 'ConfigMap')
  return parseConfig(String(at(map, 'data', 'config.yaml')))
}

function withoutHash(name: string): string {
  return name.replace(/-[bcdfghkmt2-9]{10}$/u, '')
}

/** Without what Helm adds, the hash of the config, and the config's comments and order. */
function plain(object: RenderedObject): unknown {
  const dropped = new Set(['helm.sh/chart', 'app.kubernetes.io/managed-by', 'checksum/config'])
  return JSON.parse(JSON.stringify(object), (key, value: unknown) => {
    if (dropped.has(key)) return undefined
    if (key === 'annotations' && Object.keys(value as object).length === 0) return undefined
    if (key === 'name' && typeof value === 'string') return withoutHash(value)
    return key === 'config.yaml' ? parseConfig(String(value)) : value
  })
}
