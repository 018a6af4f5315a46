/**
 * Builds the image without a registry and without a daemon, from `dist/`, npm and Debian packages:
 *
 *   dist/image/                                an OCI layout with both architectures
 *   dist/k8s-cloud-tagger-<version>-<arch>.tar for `docker load`, `kind load image-archive`, `ctr images import`
 *   dist/sbom-<arch>.spdx.json                 what is in it
 *
 * Options: --arch amd64 (again for more; default both), --root <folder> only lays the files of one architecture out,
 * for the Dockerfile, --pin pins the Debian packages of today.
 */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import packageJson from '../package.json' with { type: 'json' }
import { buildImage, sourceDate, sourceRevision, type BuiltImage } from './image/build.ts'
import { brokenPromises, tryCommand, unpack } from './image/check.ts'
import { architectures, archiveOf, indexOf, writeLayout, type Architecture } from './image/oci.ts'
import { pinDebianPackages } from './image/pin-debian.ts'
import addresses from './release/addresses.json' with { type: 'json' }

const dist = path.join(import.meta.dirname, '..', 'dist')
const { version } = packageJson

const { values } = parseArgs({
  options: {
    arch: { type: 'string', multiple: true, default: [...architectures] },
    root: { type: 'string' },
    pin: { type: 'boolean', default: false },
  },
})

if (values.pin) await pinDebianPackages()
else if (values.root === undefined) await writeImages(values.arch.map(asArchitecture))
else await unpack((await build(asArchitecture(values.arch[0] ?? ''))).files, values.root)

async function writeImages(wanted: readonly Architecture[]): Promise<void> {
  const images = await Promise.all(wanted.map(build))
  for (const image of images) await writeAndCheck(image)
  const index = indexOf(images, { 'org.opencontainers.image.version': version })
  await writeLayout(path.join(dist, 'image'), { images, index, tag: version })
  console.log(`${addresses.image}:${version}  ${index.digest}`)
}

async function writeAndCheck(image: BuiltImage): Promise<void> {
  const { architecture, files } = image
  const archive = path.join(dist, `k8s-cloud-tagger-${version}-${architecture}.tar`)
  await writeFile(archive, archiveOf(image, `${addresses.image}:${version}`))
  await writeFile(path.join(dist, `sbom-${architecture}.spdx.json`), image.sbom)

  const broken = brokenPromises(files, architecture)
  if (broken.length > 0) throw new Error(`The image for ${architecture}: ${broken.join('; ')}`)
  const compressed = image.layers.reduce((sum, { content }) => sum + content.length, 0)
  const unpacked = files.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.content.length : 0), 0)
  console.log(`linux/${architecture}  ${image.manifest.digest}`)
  console.log(`  ${megabytes(compressed)} to pull, ${megabytes(unpacked)} unpacked; layers ${layerSizes(image)}`)
  console.log(`  k8s-cloud-tagger --version: ${await versionOf(image)}`)
}

async function versionOf({ architecture, files }: BuiltImage): Promise<string> {
  const trial = await tryCommand(files, { architecture, args: ['--version'] })
  if (trial.kind === 'cannot') return `not run (${trial.reason}); every binary is for ${architecture} by its header`
  if (trial.output !== version) throw new Error(`the image says ${trial.output}, package.json says ${version}`)
  return trial.output
}

function layerSizes({ layers }: BuiltImage): string {
  return layers.map(({ content }) => megabytes(content.length)).join(' + ')
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

async function build(architecture: Architecture): Promise<BuiltImage> {
  const revision = await sourceRevision()
  const createdSeconds = await sourceDate()
  return buildImage({ architecture, createdSeconds, ...(revision !== undefined && { revision }) })
}

function asArchitecture(text: string): Architecture {
  const found = architectures.find((architecture) => architecture === text)
  if (found === undefined) throw new Error(`--arch ${text}: there are ${architectures.join(' and ')}`)
  return found
}
