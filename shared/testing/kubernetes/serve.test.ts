import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

describe('the embedded API server as a process', () => {
  it('writes kubeconfig files, says when it is ready, serves, and ends on SIGTERM', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'))
    const script = fileURLToPath(new URL('serve.ts', import.meta.url))
    const flags = ['--folder', folder, '--user', 'somebody', '--claims', '3', '--service', 'tagger/webhook=8443']
    const child = spawn(process.execPath, [script, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    const lines: string[] = []
    for await (const line of createInterface(child.stdout)) {
      lines.push(line)
      if (line.startsWith('Embedded Kubernetes listens')) break
    }

    const config = new KubeConfig()
    config.loadFromFile(join(folder, 'somebody.kubeconfig'))
    const { items } = await config.makeApiClient(CoreV1Api).listPersistentVolumeClaimForAllNamespaces()
    child.kill('SIGTERM')

    expect(items).to.have.length(3)
    expect(lines.slice(0, 2)).to.deep.equal([
      `admin: ${join(folder, 'admin.kubeconfig')}`,
      `somebody: ${join(folder, 'somebody.kubeconfig')}`,
    ])
    expect(await exited).to.deep.equal([0, null])
    await rm(folder, { recursive: true })
  })
})
