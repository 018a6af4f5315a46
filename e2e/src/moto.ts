import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { withLock } from './build-lock.ts'
import { cacheRoot } from './cache.ts'
import { waitForHttp } from './http.ts'
import { ManagedProcess } from './managed-process.ts'
import { freePorts } from './ports.ts'

const requirements = path.join(import.meta.dirname, '..', 'tools', 'moto', 'requirements.txt')

/** An EC2 API that somebody else wrote: what our own fake believes about EC2 is checked against it. */
export interface Moto {
  /** For the AWS SDK's `endpoint`; any credentials will do. */
  readonly url: string
  readonly process: ManagedProcess
  stop(): Promise<void>
}

/** Installs moto from PyPI into the cache the first time (about half a minute), then starts it in about two seconds. */
export async function startMoto(options: {
  /** For its log. */
  readonly dir: string
  readonly report?: (line: string) => void
}): Promise<Moto> {
  const environment = await ensureEnvironment(options.report ?? (() => {}))
  const [port = 0] = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  const moto = await ManagedProcess.start({
    name: 'moto_server',
    command: path.join(environment, 'bin', 'python'),
    args: ['-m', 'moto.server', '--host', '127.0.0.1', '--port', String(port)],
    // Without this every start loads the list of all images and instance types.
    env: { MOTO_EC2_LOAD_DEFAULT_AMIS: 'false' },
    logFile: path.join(options.dir, 'moto.log'),
  })
  try {
    await waitForHttp(`${url}/moto-api/data.json`, { process: moto })
  } catch (error) {
    await moto.kill()
    throw error
  }
  return {
    url,
    process: moto,
    stop: async () => void (await moto.stop({ graceMs: 2000 })),
  }
}

async function ensureEnvironment(report: (line: string) => void): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 16)
  const environment = path.join(cacheRoot(), `moto-${hash}`)
  const marker = path.join(environment, 'complete')
  if (!existsSync(marker)) {
    await mkdir(cacheRoot(), { recursive: true })
    const install = async () => {
      if (!existsSync(marker)) await installInto(environment, marker, report)
    }
    await withLock(environment, install, () => report(`waiting for another installation of moto`))
  }
  return environment
}

/** In place, since an environment holds its own path: whole only when the marker is there. */
async function installInto(environment: string, marker: string, report: (line: string) => void): Promise<void> {
  const startMs = performance.now()
  report('installing moto ...')
  await rm(environment, { recursive: true, force: true })
  const logFile = path.join(cacheRoot(), `${path.basename(environment)}.log`)
  await rm(logFile, { force: true })
  const steps = [
    ['python3', '-m', 'venv', environment],
    [path.join(environment, 'bin', 'python'), '-m', 'pip', 'install', '--no-input', '-r', requirements],
  ] as const
  for (const [command, ...args] of steps) {
    const step = await ManagedProcess.start({ name: args.join(' '), command, args, logFile })
    const exit = await step.exited
    if (exit.code !== 0) throw new Error(step.describe())
  }
  await rename(logFile, marker)
  report(`installed moto in ${((performance.now() - startMs) / 1000).toFixed(0)} s`)
}
