import { readFile, writeFile } from 'node:fs/promises'
import { archiveOf, imageOf, layerOf } from '../../../tools/image/oci.ts'
import { pauseImage } from './node-config.ts'

/**
 * An image that does nothing until it is stopped: what holds a pod's namespaces, and what a test puts into a pod whose
 * volume alone matters.
 */
export async function writePauseImage(file: string, { pause }: { readonly pause: string }): Promise<void> {
  const layer = await layerOf([{ kind: 'file', path: 'pause', mode: 0o755, content: await readFile(pause) }])
  const image = imageOf(
    {
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      created: new Date(0).toISOString(),
      user: '65532:65532',
      entrypoint: ['/pause'],
      environment: {},
      labels: {},
    },
    [layer],
  )
  await writeFile(file, archiveOf(image, pauseImage))
}
