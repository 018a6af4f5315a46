import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { freePort } from './free-port.ts'
import { ProgramProcess } from './program-process.ts'
import type { ProgramName } from './program-process.ts'

const fiveMistakes = `
cloudProvider: gpc
requeue:
  success: 5 minutes
http:
  port: 99999
tags:
  onConflct: preserve
budget:
  webhookShare: 2
`

describe('the command line', function () {
  this.timeout(30_000)
  let folder: string
  let config: (name: string, text: string) => Promise<string>

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'command-line-'))
    config = async (name, text) => {
      const path = join(folder, name)
      await writeFile(path, text)
      return path
    }
  })

  after(async () => {
    await rm(folder, { recursive: true })
  })

  async function ended(program: ProgramName, args: readonly string[], env: Record<string, string> = {}) {
    const process = new ProgramProcess({ program, args, env })
    const { code } = await process.exited
    return { code, stdout: process.stdout, stderr: process.stderr }
  }

  for (const program of ['webhook', 'reconciler'] as const) {
    describe(`of the ${program}`, () => {
      // All at once: what they cost is to be started.
      const runs = {
        mistaken: async () => ended(program, [], { CONFIG_PATH: await config('mistaken.yaml', fiveMistakes) }),
        missing: async () => ended(program, [], { CONFIG_PATH: join(folder, 'nowhere.yaml') }),
        help: () => ended(program, ['--help']),
        version: () => ended(program, ['--version']),
        unknown: () => ended(program, ['--dry-run']),
        regionless: async () => {
          const text = `cloudProvider: aws\nhttp: {address: 127.0.0.1, port: ${await freePort()}}\n`
          return ended(program, [], { CONFIG_PATH: await config(`${program}.yaml`, text) })
        },
      }
      const results = new Map<keyof typeof runs, Awaited<ReturnType<typeof ended>>>()

      before(async () => {
        const names = Object.keys(runs) as (keyof typeof runs)[]
        await Promise.all(names.map(async (name) => results.set(name, await runs[name]())))
      })

      it('names all five mistakes of a config, a line each, and exits with 2', () => {
        const { code, stdout, stderr } = results.get('mistaken')!

        expect(code).to.equal(2)
        expect(stdout).to.equal('')
        const lines = stderr
          .trimEnd()
          .split('\n')
          .map((line) => line.replace(/(allowed here: labels), .*/, '$1, …'))
        expect(lines).to.have.members([
          'cloudProvider: "gpc", must be one of mock, aws, azure, gcp',
          'requeue.success: "5 minutes", must be a whole number and a unit, such as 30s, 5m or 1h',
          'http.port: 99999, must be <= 65535',
          'tags.onConflct: "preserve", is no key of ours; allowed here: labels, …',
          'budget.webhookShare: 2, must be < 1',
        ])
      })

      it('says which config file is missing and how to name another, and exits with 2', () => {
        const { code, stderr } = results.get('missing')!

        expect(code).to.equal(2)
        expect(stderr).to.equal(
          `${join(folder, 'nowhere.yaml')}: cannot be read (ENOENT); CONFIG_PATH names another file\n`,
        )
      })

      it('explains itself and exits with 0', () => {
        const { code, stdout, stderr } = results.get('help')!

        expect(code).to.equal(0)
        expect(stderr).to.equal('')
        expect(stdout).to.include(`k8s-cloud-tagger ${program}`)
        expect(stdout).to.include('CONFIG_PATH')
      })

      it('tells its version and exits with 0', () => {
        const { code, stdout } = results.get('version')!

        expect(code).to.equal(0)
        expect(stdout).to.equal(`${packageJson.version}\n`)
      })

      it('refuses an option that it does not know, and exits with 2', () => {
        const { code, stderr } = results.get('unknown')!

        expect(code).to.equal(2)
        expect(stderr).to.include('--dry-run').and.include('--help')
      })

      it('says that it cannot start, and why, and exits with 1', () => {
        const { code, stdout } = results.get('regionless')!

        expect(code).to.equal(1)
        expect(stdout).to.include('cannot start').and.include('no AWS region is known')
      })
    })
  }
})
