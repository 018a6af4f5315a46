import { expect } from 'chai'
import packageJson from '../../../package.json' with { type: 'json' }
import { buildImage, type BuiltImage } from '../../../tools/image/build.ts'
import { brokenPromises, tryCommand } from '../../../tools/image/check.ts'
import { architectures, type Architecture } from '../../../tools/image/oci.ts'

/** Of what `make bundle` built; needs apt and npm for what else is in it. */
describe('the image', () => {
  for (const architecture of architectures) describe(`for ${architecture}`, () => describeImage(architecture))
})

function describeImage(architecture: Architecture): void {
  let image: BuiltImage

  before('is built', async () => {
    image = await buildImage({ architecture, createdSeconds: 0 })
  })

  it('has the same digest when it is built again', async () => {
    const again = await buildImage({ architecture, createdSeconds: 0 })

    expect(again.manifest.digest).to.equal(image.manifest.digest)
  })

  it('holds no program but Node, for this architecture, with every library that it needs', () => {
    expect(brokenPromises(image.files, architecture)).to.deep.equal([])
  })

  it('says its version, read-only and as nobody, where this machine can run it', async () => {
    const trial = await tryCommand(image.files, { architecture, args: ['--version'] })

    if (trial.kind === 'cannot') console.log(`      not run for ${architecture}: ${trial.reason}`)
    else expect(trial.output).to.equal(packageJson.version)
  })

  it('lists every package that left code in it', () => {
    const { packages } = JSON.parse(image.sbom) as { packages: readonly { name: string; versionInfo: string }[] }

    const names = packages.map(({ name }) => name)
    expect(names).to.include.members(['undici', '@aws-sdk/client-ec2', 'libc6', 'libstdc++6', 'ca-certificates'])
    expect(names).not.to.include('mocha')
    expect(packages.find(({ name }) => name.startsWith('node-linux-'))?.versionInfo).to.match(/^24\./u)
  })

  if (architecture !== (process.arch === 'arm64' ? 'arm64' : 'amd64')) return

  it('starts a program, which replaces itself to set Node’s flags, without a shell', async () => {
    const trial = await tryCommand(image.files, { architecture, args: ['webhook', '--help'] })

    expect(trial).to.have.property('kind', 'ran')
    expect(trial).to.have.property('output').that.includes('webhook')
  })
}
