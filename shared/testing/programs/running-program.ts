import { eventually } from './eventually.ts'
import type { LogLine, ProgramProcess } from './program-process.ts'

export interface RunningProgramOptions {
  readonly process: ProgramProcess
  readonly name: string
  readonly account: string
  readonly ports: { readonly http: number; readonly webhook: number }
}

/** A program that an installation has started, seen through its log, its health server and its metrics. */
export class RunningProgram {
  readonly process: ProgramProcess
  readonly name: string
  /** Its user name at the API server. */
  readonly account: string
  readonly webhookPort: number
  readonly #httpPort: number

  constructor(options: RunningProgramOptions) {
    this.process = options.process
    this.name = options.name
    this.account = options.account
    this.webhookPort = options.ports.webhook
    this.#httpPort = options.ports.http
  }

  get lines(): readonly LogLine[] {
    return this.process.lines
  }

  async ready(withinMs = 20_000): Promise<void> {
    const problem = () => `${this.name} is not ready\n${this.process.lastWords}`
    await eventually(problem, () => this.#isReady(), withinMs)
  }

  async get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`http://127.0.0.1:${this.#httpPort}${path}`)
    return { status: response.status, text: await response.text() }
  }

  /** The sum over all label values that have these labels, written as in the exposition format: `outcome="queued"`. */
  async metric(name: string, labels = ''): Promise<number> {
    const { text } = await this.get('/metrics')
    const lines = text.split('\n').filter((line) => {
      const [series = ''] = line.split(/[{ ]/, 1)
      return series === `k8s_cloud_tagger_${name}` && line.includes(labels)
    })
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  }

  /** Resolves when nothing waits and nothing is under way, once `passes` were made. */
  async idle(passes = 0, withinMs = 10_000): Promise<void> {
    await eventually(
      `${this.name} to be idle after ${passes} passes`,
      async () =>
        (await this.metric('reconcile_total')) >= passes &&
        (await this.metric('queue_depth')) === 0 &&
        (await this.metric('reconcile_active')) === 0,
      withinMs,
    )
  }

  async #isReady(): Promise<boolean> {
    if (!this.process.isRunning) throw new Error(`${this.name} has ended\n${this.process.lastWords}`)
    try {
      return (await this.get('/readyz')).status === 200
    } catch {
      // It does not listen yet.
      return false
    }
  }
}
