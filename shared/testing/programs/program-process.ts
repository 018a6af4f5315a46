import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

export type ProgramName = 'webhook' | 'reconciler' | 'report'

/** One line of a program's log. */
export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly [field: string]: unknown
}

export interface ProgramExit {
  /** Null where a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ProgramProcessOptions {
  readonly program: ProgramName
  readonly args?: readonly string[]
  /** All of its environment, but for what Node itself needs. */
  readonly env?: Readonly<Record<string, string>>
}

const repository = join(import.meta.dirname, '..', '..', '..')
// Starting from the sources costs a second of processor time, half of which this saves from the second start on.
const compileCache = join(tmpdir(), 'k8s-cloud-tagger-compile-cache')

const running = new Set<ProgramProcess>()
process.once('exit', () => {
  for (const { pid } of running) if (pid !== undefined) process.kill(pid, 'SIGKILL')
})

/** One of the programs, started from its sources as a process of its own. */
export class ProgramProcess {
  readonly exited: Promise<ProgramExit>
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  #stdout = ''
  #stderr = ''

  constructor({ program, args = [], env = {} }: ProgramProcessOptions) {
    this.#child = spawn(process.execPath, [join(repository, program, 'src', 'main.ts'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: tmpdir(), NODE_COMPILE_CACHE: compileCache, ...env },
    })
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text))
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text))
    running.add(this)
    this.exited = new Promise((resolve, reject) => {
      this.#child.once('error', reject)
      this.#child.once('close', (code, signal) => {
        running.delete(this)
        resolve({ code, signal })
      })
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get isRunning(): boolean {
    return running.has(this)
  }

  get stdout(): string {
    return this.#stdout
  }

  get stderr(): string {
    return this.#stderr
  }

  /** The log so far; what is no JSON line is given as a line of level `raw`. */
  get lines(): readonly LogLine[] {
    return this.#stdout
      .split('\n')
      .filter((line) => line !== '')
      .map(logLine)
  }

  /** No warning, no grace. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.exited
  }

  /** As Ctrl-C does. */
  interrupt(): void {
    this.#child.kill('SIGINT')
  }

  /** Asks it to stop, and tells how it ended and how long that took. */
  async terminate(): Promise<ProgramExit & { readonly tookMs: number }> {
    const startMs = performance.now()
    this.#child.kill('SIGTERM')
    const exit = await this.exited
    return { ...exit, tookMs: performance.now() - startMs }
  }

  /** For the message of a test that fails. */
  get lastWords(): string {
    return `${this.#stdout.slice(-2000)}${this.#stderr.slice(-2000)}`
  }
}

function logLine(text: string): LogLine {
  try {
    return JSON.parse(text) as LogLine
  } catch {
    return { level: 'raw', msg: text }
  }
}
