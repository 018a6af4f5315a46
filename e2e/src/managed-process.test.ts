import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { ManagedProcess } from './managed-process.ts'

describe('ManagedProcess', () => {
  let dir: string

  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'managed-process-'))
  })

  afterEach(() => rmSync(dir, { recursive: true }))

  const start = (script: string) =>
    ManagedProcess.start({ name: 'shell', command: '/bin/sh', args: ['-c', script], logFile: path.join(dir, 'log') })

  it('tells how a process ended, and its last words', async () => {
    const shell = await start('echo on its way; echo alas >&2; exit 3')

    const exit = await shell.exited

    expect(exit).to.include({ code: 3, signal: undefined })
    expect(shell.log.lines()).to.deep.equal(['on its way', 'alas'])
    expect(shell.describe()).to.include('shell ended with exit code 3').and.to.include('alas')
  })

  it('finds a line that is yet to come', async () => {
    const shell = await start('echo first; sleep 0.1; echo ready; exec sleep 60')

    expect(await shell.log.waitForLine(/^rea/u)).to.equal('ready')

    await shell.kill()
  })

  it('stops by SIGTERM, and kills what does not go', async () => {
    const willing = await start('exec sleep 60')
    const stubborn = await start('trap "" TERM; echo ready; while :; do sleep 0.05; done')
    await stubborn.log.waitForLine('ready')

    expect(await willing.stop()).to.include({ signal: 'SIGTERM', killed: false })
    expect(await stubborn.stop({ graceMs: 50 })).to.include({ signal: 'SIGKILL', killed: true })
  })

  it('rejects where there is no such command', async () => {
    const missing = ManagedProcess.start({ name: 'nothing', command: '/no/such', logFile: path.join(dir, 'log') })

    const error = await missing.then(
      () => undefined,
      (reason: unknown) => reason,
    )

    expect(error).to.be.an('error').with.property('message', 'nothing could not be started')
  })

  for (const end of ['SIGKILL', 'SIGTERM', 'SIGINT', 'an uncaught error']) {
    it(`leaves no process behind when its own one ends by ${end}`, async () => {
      const module = JSON.stringify(path.join(import.meta.dirname, 'managed-process.ts'))
      const script = `
        const { ManagedProcess } = await import(${module})
        const child = await ManagedProcess.start({
          name: 'sleep', command: '/bin/sleep', args: ['60'], logFile: ${JSON.stringify(path.join(dir, 'log'))},
        })
        console.log(child.pid)
        process.once('SIGUSR2', () => { throw new Error('uncaught, as it should be') })
        setInterval(() => {}, 1000)`
      const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const [pid] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string]

      const exited = once(parent, 'exit')
      parent.kill(end.startsWith('SIG') ? (end as NodeJS.Signals) : 'SIGUSR2')
      await exited

      expect(await hasEnded(pid)).to.equal(true)
    })
  }
})

/** A zombie counts: it only waits for the machine's first process to look at it. */
async function hasEnded(pid: string): Promise<boolean> {
  for (let look = 0; look < 100; look++) {
    try {
      if (/^State:\s+Z/mu.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return true
    } catch {
      return true
    }
    await sleep(20)
  }
  return false
}
