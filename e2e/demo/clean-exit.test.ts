import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'

const module = pathToFileURL(path.join(import.meta.dirname, 'clean-exit.ts')).href

/** Runs `body` after a clean exit was prepared; `folder` is the run's own. */
function start(body: string) {
  const script = `
    import { exitCleanly } from ${JSON.stringify(module)}
    const say = (text) => process.stderr.write(text)
    const folder = exitCleanly({ onExit: () => process.stdout.write('terminal in order;'), say })
    process.stdout.write(folder + ';')
    ${body}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
  const seen = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (seen.out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (seen.err += chunk.toString()))
  const ended = once(child, 'close').then(([code]) => {
    const [folder = '', ...rest] = seen.out.split(';')
    return { code: code as number | null, folder, tidied: rest.includes('terminal in order'), err: seen.err }
  })
  return { child, ended }
}

describe('a clean exit', () => {
  it('removes the folder when the demo comes to its end', async () => {
    const { code, folder, tidied } = await start('process.exit(0)').ended

    expect(code).to.equal(0)
    expect(folder).to.match(/k8s-cloud-tagger-demo-/u)
    expect(existsSync(folder)).to.equal(false)
    expect(tidied).to.equal(true)
  })

  for (const { signal, code } of [
    { signal: 'SIGINT', code: 130 },
    { signal: 'SIGTERM', code: 143 },
    { signal: 'SIGHUP', code: 129 },
  ] as const) {
    it(`ends with ${code} and leaves nothing behind at ${signal}`, async () => {
      const { child, ended } = start('setInterval(() => {}, 1000)')
      await once(child.stdout, 'data')

      child.kill(signal)

      const end = await ended
      expect(end.code).to.equal(code)
      expect(existsSync(end.folder)).to.equal(false)
      expect(end.err).to.contain('Nothing is left behind')
    })
  }

  for (const fault of ["setTimeout(() => { throw new Error('boom') })", "Promise.reject(new Error('boom'))"]) {
    it(`says what broke, and leaves nothing behind, after ${fault.slice(0, 14)}…`, async () => {
      const { code, folder, err } = await start(`${fault}; setInterval(() => {}, 1000)`).ended

      expect(code).to.equal(1)
      expect(existsSync(folder)).to.equal(false)
      expect(err).to.match(/The demo itself broke: Error: boom/u)
    })
  }
})
