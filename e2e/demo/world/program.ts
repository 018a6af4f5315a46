import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fakeCredentials } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { stringify } from 'yaml'
import { httpGet } from '../../src/http.ts'
import type { ManagedProcess, StopResult } from '../../src/managed-process.ts'
import { startProgram } from '../../src/processes.ts'

/** What `make bundle` builds: the programs run as the image ships them. */
const command = path.join(import.meta.dirname, '..', '..', '..', 'dist', 'k8s-cloud-tagger.js')

/** Longer than a webhook drains. */
const stopGraceMs = 8000

export interface ProgramOptions {
  readonly kind: 'webhook' | 'reconciler'
  /** Its pod's name: what intents, Events and the Lease call it. */
  readonly name: string
  readonly folder: string
  readonly namespace: string
  readonly kubeconfig: string
  readonly httpPort: number
  /** The whole config file. */
  readonly config: object
}

/** One of the real programs, a child process of its own, which can be stopped and started again. */
export class Program {
  readonly kind: 'webhook' | 'reconciler'
  readonly name: string
  readonly #options: ProgramOptions
  #process: ManagedProcess | undefined
  #stopped = true

  constructor(options: ProgramOptions) {
    this.kind = options.kind
    this.name = options.name
    this.#options = options
  }

  /** Resolves when it is ready. Rejects, with its last words, when it does not come so far. */
  async start(): Promise<void> {
    const { kind, name, folder, namespace, kubeconfig, httpPort, config } = this.#options
    const configPath = path.join(folder, `${name}.yaml`)
    await writeFile(configPath, stringify(config))
    this.#process = await startProgram({
      name,
      entry: command,
      args: [kind],
      env: {
        ...withoutForeignSettings(process.env),
        // Whatever it puts down for later goes with the folder.
        TMPDIR: folder,
        CONFIG_PATH: configPath,
        KUBECONFIG: kubeconfig,
        POD_NAME: name,
        POD_NAMESPACE: namespace,
        AWS_ACCESS_KEY_ID: fakeCredentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: fakeCredentials.secretAccessKey,
      },
      cwd: folder,
      logFile: path.join(folder, `${name}.log`),
      readyUrl: `http://127.0.0.1:${httpPort}/readyz`,
    })
    this.#stopped = false
  }

  /** Undefined where it did not run. */
  async stop(): Promise<StopResult | undefined> {
    if (this.#stopped || this.#process === undefined) return undefined
    this.#stopped = true
    return this.#process.stop({ graceMs: stopGraceMs })
  }

  /** Whether it ended though nobody had asked it to. */
  get hasCrashed(): boolean {
    return !this.#stopped && this.#process?.running === false
  }

  get isRunning(): boolean {
    return !this.#stopped && this.#process?.running === true
  }

  lastLines(count: number): readonly string[] {
    return this.#process?.log.lines().slice(-count) ?? []
  }

  /** The value of one of its metrics, summed over all series that have these labels; 0 where there is none. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const { body } = await httpGet(`http://127.0.0.1:${this.#options.httpPort}/metrics`)
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
    return body
      .split('\n')
      .filter((line) => /^[^{ ]+/u.exec(line)?.[0] === `k8s_cloud_tagger_${name}`)
      .filter((line) => wanted.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  }
}

/** Whoever runs the demo may have an AWS profile, a proxy or a debugger at hand: none of them is meant for it. */
function withoutForeignSettings(env: NodeJS.ProcessEnv): Readonly<Record<string, undefined>> {
  const foreign = /^(AWS_|KUBE|LOG_LEVEL$|NODE_|NO_PROXY$|SSL_CERT)|_PROXY$/iu
  return Object.fromEntries(
    Object.keys(env)
      .filter((name) => foreign.test(name))
      .map((name) => [name, undefined]),
  )
}
