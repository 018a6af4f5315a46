import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

describe('the Compute Engine fake as a process', () => {
  it('says where it listens, serves, and ends on SIGTERM', async () => {
    const script = fileURLToPath(new URL('serve.ts', import.meta.url))
    const child = spawn(
      process.execPath,
      [script, '--disks', '3', '--foreign-disks', '2', '--latency-ms', '1', '--quota'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    const url = line.split(' ').at(-1) ?? ''

    const state = await (await fetch(`${url}/_fake/state`)).json()
    const exited = once(child, 'exit')
    child.kill('SIGTERM')

    expect(state).to.include({ diskCount: 5 })
    expect(await exited).to.deep.equal([0, null])
  })
})
