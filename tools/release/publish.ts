/** What a release pushes, and by which programs. Dry, the commands are only told. */
import { execFile } from 'node:child_process'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import addresses from './addresses.json' with { type: 'json' }

const run = promisify(execFile)

export interface PublishOptions {
  readonly root: string
  readonly version: string
  /** What the changelog says about it. */
  readonly notes: string
  readonly isDry: boolean
  readonly report: (line: string) => void
}

interface Release {
  readonly image: string
  readonly imageDigest: string
  readonly platforms: readonly { readonly architecture: string; readonly digest: string }[]
  readonly chartArchive: string
  readonly notesFile: string
}

/**
 * Pushes image and chart, signs both by the identity of the workflow that runs this, attests what is in the image, and
 * at last makes the release: until then everything can be repeated, and gives the same digests.
 */
export async function publish(options: PublishOptions): Promise<void> {
  const release = await gather(options)
  const push = (command: string, ...args: readonly string[]) => pushing(options, command, args)

  await push(...imageCopy(options, release))
  await push('cosign', 'sign', '--yes', '--recursive', `${release.image}@${release.imageDigest}`)
  for (const { architecture, digest } of release.platforms) {
    const predicate = `dist/sbom-${architecture}.spdx.json`
    await push(
      'cosign',
      'attest',
      '--yes',
      '--type',
      'spdxjson',
      '--predicate',
      predicate,
      `${release.image}@${digest}`,
    )
  }
  const chartRepository = addresses.chart.slice(0, addresses.chart.lastIndexOf('/'))
  const pushed = await push(helm, 'push', release.chartArchive, chartRepository)
  const chartDigest = options.isDry ? 'sha256:…' : digestIn(pushed)
  const chart = addresses.chart.replace(/^oci:\/\//u, '')
  await push('cosign', 'sign', '--yes', `${chart}@${chartDigest}`)
  await tellWorkflow({ image: release.image, 'image-digest': release.imageDigest, chart, 'chart-digest': chartDigest })
  await push(...githubRelease(options, release))
}

// The workflow's own, or one that a test has built.
const helm = process.env['HELM'] || 'helm'

type Command = readonly [string, ...string[]]

function imageCopy({ version }: PublishOptions, { image }: Release): Command {
  return ['skopeo', 'copy', '--all', '--preserve-digests', `oci:dist/image:${version}`, `docker://${image}:${version}`]
}

function githubRelease({ version }: PublishOptions, { chartArchive, notesFile, platforms }: Release): Command {
  const boms = platforms.map(({ architecture }) => `dist/sbom-${architecture}.spdx.json`)
  const target = process.env['GITHUB_SHA'] ?? 'HEAD'
  const flags = ['--title', version, '--notes-file', notesFile, '--target', target]
  return ['gh', 'release', 'create', `v${version}`, ...flags, chartArchive, ...boms]
}

async function gather({ notes, root, version }: PublishOptions): Promise<Release> {
  const folder = path.join(root, 'dist', 'release')
  await mkdir(folder, { recursive: true })
  await run(helm, ['package', 'charts/k8s-cloud-tagger', '--destination', folder], { cwd: root })
  const notesFile = path.join('dist', 'release', 'notes.md')
  await writeFile(path.join(root, notesFile), `${notes}\n`)
  const layout = path.join(root, 'dist', 'image')
  const imageDigest = (await manifestsIn(path.join(layout, 'index.json')))[0]?.digest ?? ''
  const manifests = await manifestsIn(path.join(layout, 'blobs', imageDigest.replace(':', '/')))
  return {
    image: addresses.image,
    imageDigest,
    platforms: manifests.map(({ digest, platform }) => ({ digest, architecture: platform?.architecture ?? '' })),
    chartArchive: path.join('dist', 'release', `k8s-cloud-tagger-${version}.tgz`),
    notesFile,
  }
}

interface Descriptor {
  readonly digest: string
  readonly platform?: { readonly architecture: string }
}

async function manifestsIn(file: string): Promise<readonly Descriptor[]> {
  return (JSON.parse(await readFile(file, 'utf8')) as { readonly manifests: readonly Descriptor[] }).manifests
}

/** Resolves to what the command wrote. */
async function pushing(
  { isDry, report, root }: PublishOptions,
  command: string,
  args: readonly string[],
): Promise<string> {
  report(`${isDry ? 'would run' : 'running'}: ${[path.basename(command), ...args].join(' ')}`)
  if (isDry) return ''
  const { stderr, stdout } = await run(command, args, { cwd: root })
  return stdout + stderr
}

function digestIn(output: string): string {
  const digest = /sha256:[0-9a-f]{64}/u.exec(output)?.[0]
  if (digest === undefined) throw new Error(`helm push told no digest: ${output}`)
  return digest
}

/** Later steps of the workflow attest where these digests came from. */
async function tellWorkflow(outputs: Readonly<Record<string, string>>): Promise<void> {
  const file = process.env['GITHUB_OUTPUT']
  if (file === undefined || file === '') return
  await appendFile(
    file,
    Object.entries(outputs)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
}
