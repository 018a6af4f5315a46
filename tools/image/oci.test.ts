import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { archiveOf, digestOf, imageOf, indexOf, layerOf, type ImageSettings } from './oci.ts'
import { readTar } from './tar.ts'

const settings: ImageSettings = {
  architecture: 'arm64',
  created: '2026-01-02T03:04:05Z',
  user: '65532:65532',
  entrypoint: ['/usr/bin/command'],
  environment: { PATH: '/usr/bin' },
  labels: { 'org.opencontainers.image.version': '1.2.3' },
}

const entries = [{ kind: 'file', path: 'usr/bin/command', mode: 0o755, content: Buffer.from('binary') }] as const

describe('an image', () => {
  it('names each part by the digest of its content', async () => {
    const layer = await layerOf(entries)
    const image = imageOf(settings, [layer])

    const manifest = parsed(image.manifest.content) as { config: Descriptor; layers: readonly Descriptor[] }
    expect(manifest.config.digest).to.equal(digestOf(image.config.content))
    expect(manifest.layers.map(({ digest, size }) => [digest, size])).to.deep.equal([
      [digestOf(layer.content), layer.content.length],
    ])
    expect(layer.diffId).to.equal(digestOf(gunzipSync(layer.content)))
    expect(parsed(image.config.content)).to.deep.include({ architecture: 'arm64', os: 'linux' })
    expect(parsed(image.config.content)).to.have.nested.property('config.User', '65532:65532')
  })

  it('is the same each time, and another one when a file changes', async () => {
    const build = async (content: string) =>
      imageOf(settings, [await layerOf([{ ...entries[0], content: Buffer.from(content) }])]).manifest.digest

    expect(await build('a')).to.equal(await build('a'))
    expect(await build('a')).not.to.equal(await build('b'))
  })

  it('stands beside that of another architecture under one name', async () => {
    const layer = await layerOf(entries)
    const images = [imageOf(settings, [layer]), imageOf({ ...settings, architecture: 'amd64' }, [layer])]

    const { manifests } = parsed(indexOf(images, {}).content) as { manifests: readonly Descriptor[] }

    expect(manifests.map(({ digest, platform }) => [platform?.architecture, digest])).to.deep.equal([
      ['arm64', images[0]?.manifest.digest],
      ['amd64', images[1]?.manifest.digest],
    ])
  })

  it('comes as one file that Docker and containerd take, under the name it shall have', async () => {
    const image = imageOf(settings, [await layerOf(entries)])

    const files = new Map(
      readTar(archiveOf(image, 'registry.example/command:1.2.3')).map((entry) => [entry.path, entry]),
    )

    const content = (name: string) => {
      const entry = files.get(name)
      return entry?.kind === 'file' ? entry.content : Buffer.alloc(0)
    }
    const [forDocker] = parsed(content('manifest.json')) as [{ Config: string; RepoTags: string[]; Layers: string[] }]
    expect(forDocker.RepoTags).to.deep.equal(['registry.example/command:1.2.3'])
    expect([forDocker.Config, ...forDocker.Layers].every((name) => files.has(name))).to.equal(true)
    const { manifests } = parsed(content('index.json')) as { manifests: readonly Descriptor[] }
    expect(manifests[0]?.annotations?.['io.containerd.image.name']).to.equal('registry.example/command:1.2.3')
    expect(digestOf(content(`blobs/${image.manifest.digest.replace(':', '/')}`))).to.equal(image.manifest.digest)
  })
})

interface Descriptor {
  readonly digest: string
  readonly size: number
  readonly platform?: { readonly architecture: string }
  readonly annotations?: Readonly<Record<string, string>>
}

function parsed(content: Buffer): object {
  return JSON.parse(content.toString()) as object
}
