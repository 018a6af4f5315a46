/**
 * Writes the rendered part of charts/kustomize from the chart, or with --check fails where it differs. Needs Go, or a Helm
 * that is named by --helm.
 */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { parseAllDocuments, stringify } from 'yaml'
import { ensureBinaries, requiredVersion } from '../e2e/src/binaries.ts'
import type { KubeObject } from '../e2e/src/kube-objects.ts'

const root = path.join(import.meta.dirname, '..')
const folder = path.join('charts', 'kustomize')

/** Also the namespace. Overlays refer to objects by the names that follow from it. */
const release = 'k8s-cloud-tagger'
const configFile = 'config.yaml'

type Rendered = KubeObject & { readonly spec?: unknown; readonly data?: Readonly<Record<string, string>> }

/** Files below charts/kustomize, by name. Throws where the chart no longer is what this takes it for. */
export function kustomizeFiles(rendered: string): Readonly<Record<string, string>> {
  const objects = objectsIn(rendered)
  const certificates = objects.filter(isOfCertManager)
  const others = objects.filter((object) => !isOfCertManager(object))
  const [config, ...furtherMaps] = others.filter(({ kind }) => kind === 'ConfigMap')
  const text = config?.data?.[configFile]
  if (text === undefined || furtherMaps.length > 0)
    throw new Error('the chart renders no single ConfigMap of the config')
  const base = others.filter((object) => object !== config).map(withoutRelease)
  return {
    'base/objects.yaml': pageOf(base),
    [`base/${configFile}`]: `${generated}${text}`,
    'components/cert-manager/certificates.yaml': pageOf(certificates.map(withoutRelease)),
  }
}

const generated = "# Generated from the chart by 'node tools/kustomize-base.ts'.\n"

function objectsIn(rendered: string): readonly Rendered[] {
  return parseAllDocuments(rendered, { uniqueKeys: true }).flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined) throw error
    const object = document.toJS() as Rendered | null
    return object === null ? [] : [object]
  })
}

function isOfCertManager({ apiVersion }: KubeObject): boolean {
  return apiVersion.startsWith('cert-manager.io/')
}

/** Whose these objects are is said by whoever applies them; what injects the CA, and what rolls the pods, by an overlay. */
const releaseKeys: ReadonlySet<string> = new Set([
  'helm.sh/chart',
  'app.kubernetes.io/managed-by',
  'cert-manager.io/inject-ca-from',
  'checksum/config',
])

function withoutRelease(object: Rendered): Rendered {
  return JSON.parse(JSON.stringify(object), (key, value: unknown) => {
    if (key !== 'labels' && key !== 'annotations') return value
    const kept = Object.entries(value as Readonly<Record<string, string>>).filter(([name]) => !releaseKeys.has(name))
    return kept.length === 0 ? undefined : Object.fromEntries(kept)
  }) as Rendered
}

function pageOf(objects: readonly Rendered[]): string {
  // Anchors and folded lines would only make patches harder to write.
  const pages = objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }))
  return generated + pages.join('---\n')
}

async function render(helm: string): Promise<string> {
  const kubeVersion = await requiredVersion('kubernetes', 'k8s.io/kubernetes')
  const chart = path.join(root, 'charts', 'k8s-cloud-tagger')
  const args = ['template', release, chart, '--namespace', release, '--kube-version', kubeVersion]
  return (await promisify(execFile)(helm, args, { maxBuffer: 16 * 1024 * 1024 })).stdout
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false }, helm: { type: 'string' } } })
  const helm = values.helm ?? (await ensureBinaries(['helm4'], console.log)).helm4
  for (const [name, text] of Object.entries(kustomizeFiles(await render(helm)))) {
    const file = path.join(root, folder, name)
    if (!values.check) {
      await mkdir(path.dirname(file), { recursive: true })
      await writeFile(file, text)
    } else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
      console.error(`${path.join(folder, name)} is not what the chart renders: run 'node tools/kustomize-base.ts'.`)
      process.exitCode = 1
    }
  }
}

if (import.meta.main) await main()
