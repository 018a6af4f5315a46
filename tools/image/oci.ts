/** Images by the OCI image specification 1.1, put together from files; nothing here talks to a registry or a daemon. */
import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { tarOf, type TarEntry } from './tar.ts'

export type Architecture = 'amd64' | 'arm64'

export const architectures: readonly Architecture[] = ['amd64', 'arm64']

export interface Blob {
  readonly mediaType: string
  readonly digest: string
  readonly content: Buffer
}

export interface Layer extends Blob {
  /** Of the archive before compression. */
  readonly diffId: string
}

export interface Image {
  readonly architecture: Architecture
  readonly layers: readonly Layer[]
  readonly config: Blob
  readonly manifest: Blob
}

export interface ImageSettings {
  readonly architecture: Architecture
  /** ISO 8601. */
  readonly created: string
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly workingFolder?: string
}

const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const indexType = 'application/vnd.oci.image.index.v1+json'
const refName = 'org.opencontainers.image.ref.name'

export async function layerOf(entries: readonly TarEntry[]): Promise<Layer> {
  const archive = tarOf(entries)
  // zlib writes neither name nor time: equal archives give equal bytes from the same Node.
  const content = await promisify(gzip)(archive)
  return { ...blobOf('application/vnd.oci.image.layer.v1.tar+gzip', content), diffId: digestOf(archive) }
}

export function imageOf(settings: ImageSettings, layers: readonly Layer[]): Image {
  const config = jsonBlob('application/vnd.oci.image.config.v1+json', {
    architecture: settings.architecture,
    os: 'linux',
    created: settings.created,
    config: {
      User: settings.user,
      Env: Object.entries(settings.environment).map(([name, value]) => `${name}=${value}`),
      Entrypoint: settings.entrypoint,
      WorkingDir: settings.workingFolder ?? '/',
      Labels: settings.labels,
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created: settings.created })),
  })
  const manifest = jsonBlob(manifestType, {
    schemaVersion: 2,
    mediaType: manifestType,
    config: descriptorOf(config),
    layers: layers.map(descriptorOf),
    annotations: settings.labels,
  })
  return { architecture: settings.architecture, layers, config, manifest }
}

/** One name for the images of several architectures; its digest is what a chart pins. */
export function indexOf(images: readonly Image[], annotations: Readonly<Record<string, string>>): Blob {
  return jsonBlob(indexType, {
    schemaVersion: 2,
    mediaType: indexType,
    manifests: images.map((image) => ({
      ...descriptorOf(image.manifest),
      platform: { architecture: image.architecture, os: 'linux' },
    })),
    annotations,
  })
}

/** An OCI image layout: what `skopeo copy --all oci:<folder>:<tag>`, `crane push` and `oras` read. */
export async function writeLayout(
  folder: string,
  { images, index, tag }: { readonly images: readonly Image[]; readonly index: Blob; readonly tag: string },
): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(path.join(folder, 'blobs', 'sha256'), { recursive: true })
  for (const blob of [index, ...images.flatMap(blobsOf)])
    await writeFile(path.join(folder, blobPath(blob)), blob.content)
  const entry = { ...descriptorOf(index), annotations: { [refName]: tag } }
  await writeFile(path.join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [entry] }))
  await writeFile(path.join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
}

/**
 * One image as `docker save` writes it: for `docker load`, `kind load image-archive` and `ctr images import`. `reference`
 * is the name it gets there, with its tag.
 */
export function archiveOf(image: Image, reference: string): Buffer {
  const file = (name: string, content: Buffer | string) =>
    ({ kind: 'file', path: name, mode: 0o644, content: Buffer.from(content) }) as const
  const blobs = new Map(blobsOf(image).map((blob) => [blobPath(blob), blob.content]))
  const entry = {
    ...descriptorOf(image.manifest),
    annotations: { 'io.containerd.image.name': reference, [refName]: reference.slice(reference.lastIndexOf(':') + 1) },
    platform: { architecture: image.architecture, os: 'linux' },
  }
  const forDocker = {
    Config: blobPath(image.config),
    RepoTags: [reference],
    Layers: image.layers.map(blobPath),
  }
  return tarOf([
    ...[...blobs].map(([name, content]) => file(name, content)),
    file('index.json', JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: [entry] })),
    file('manifest.json', JSON.stringify([forDocker])),
    file('oci-layout', '{"imageLayoutVersion":"1.0.0"}'),
  ])
}

function blobsOf({ config, layers, manifest }: Image): readonly Blob[] {
  return [manifest, config, ...layers]
}

function descriptorOf({ content, digest, mediaType }: Blob): object {
  return { mediaType, digest, size: content.length }
}

function jsonBlob(mediaType: string, value: object): Blob {
  return blobOf(mediaType, Buffer.from(JSON.stringify(value)))
}

function blobOf(mediaType: string, content: Buffer): Blob {
  return { mediaType, digest: digestOf(content), content }
}

function blobPath({ digest }: Blob): string {
  return `blobs/${digest.replace(':', '/')}`
}

export function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}
