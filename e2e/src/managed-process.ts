import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { LogFile } from './log-file.ts'

/**
 * Nothing that a test starts may outlive it. Each child leads a process group of its own, which is killed when this
 * process exits, whether by itself, by an uncaught error or by a signal. For the one end that runs no handler (SIGKILL)
 * a waiting shell holds the other end of a pipe: when the pipe closes, it kills the group.
 */
export interface ProcessOptions {
  readonly name: string
  readonly command: string
  readonly args?: readonly string[]
  /** Added to this process's environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** Standard output and standard error are appended to it. */
  readonly logFile: string
}

export interface ProcessExit {
  /** Undefined where a signal ended the process. */
  readonly code: number | undefined
  readonly signal: NodeJS.Signals | undefined
  /** From the start of the process to its end. */
  readonly ranForMs: number
}

export interface StopOptions {
  /** How long after SIGTERM the process group is killed; default 10,000. */
  readonly graceMs?: number
}

export interface StopResult extends ProcessExit {
  /** From the first signal to the end of the process. */
  readonly stoppedInMs: number
  /** True where the process did not go within its grace. */
  readonly killed: boolean
}

const running = new Set<ManagedProcess>()

export class ManagedProcess {
  readonly name: string
  readonly pid: number
  readonly log: LogFile
  /** Resolves, and never rejects, when the process has ended. */
  readonly exited: Promise<ProcessExit>
  #exit: ProcessExit | undefined

  private constructor(name: string, child: ChildProcess & { readonly pid: number }, log: LogFile) {
    this.name = name
    this.pid = child.pid
    this.log = log
    const startedMs = performance.now()
    const guard = guardGroup(child.pid)
    running.add(this)
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        guard.kill('SIGKILL')
        signalGroup(this.pid, 'SIGKILL')
        running.delete(this)
        this.#exit = {
          code: code ?? undefined,
          signal: signal ?? undefined,
          ranForMs: performance.now() - startedMs,
        }
        resolve(this.#exit)
      })
    })
  }

  /** Rejects where the command cannot be started. */
  static async start(options: ProcessOptions): Promise<ManagedProcess> {
    endWithThisProcess()
    mkdirSync(path.dirname(options.logFile), { recursive: true })
    const output = openSync(options.logFile, 'a')
    const child = spawn(options.command, options.args ?? [], {
      detached: true,
      stdio: ['ignore', output, output],
      env: { ...process.env, ...options.env },
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    })
    closeSync(output)
    if (!hasPid(child)) {
      const [error] = (await once(child, 'error')) as [Error]
      throw new Error(`${options.name} could not be started`, { cause: error })
    }
    return new ManagedProcess(options.name, child, new LogFile(options.logFile))
  }

  get running(): boolean {
    return this.#exit === undefined
  }

  /** To the process alone, so that a scenario can pause (SIGSTOP) or interrupt it. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) process.kill(this.pid, signal)
  }

  /** SIGTERM, and SIGKILL to the whole group after the grace. Stopping what has ended is no error. */
  async stop({ graceMs = 10_000 }: StopOptions = {}): Promise<StopResult> {
    const startMs = performance.now()
    let killed = false
    this.signal('SIGTERM')
    const timer = setTimeout(() => {
      killed = true
      signalGroup(this.pid, 'SIGKILL')
    }, graceMs)
    const exit = await this.exited
    clearTimeout(timer)
    return { ...exit, stoppedInMs: performance.now() - startMs, killed }
  }

  /** The end of a machine: no warning, no grace. */
  async kill(): Promise<ProcessExit> {
    if (this.running) signalGroup(this.pid, 'SIGKILL')
    return this.exited
  }

  /** What went wrong, for an error message: how the process ended and its last words. */
  describe(): string {
    const state =
      this.#exit === undefined
        ? `${this.name} (pid ${this.pid}) is running`
        : `${this.name} ended with ${this.#exit.signal ?? `exit code ${this.#exit.code}`}`
    return `${state}; the end of ${this.log.path}:\n${this.log.tail(20)}`
  }
}

function hasPid(child: ChildProcess): child is ChildProcess & { readonly pid: number } {
  return child.pid !== undefined
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group is gone already.
  }
}

function guardGroup(pid: number): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', 'read -r _; kill -s KILL -- "-$0" 2>/dev/null', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.unref()
  guard.stdin?.on('error', () => {})
  if (guard.stdin !== null && 'unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref()
  return guard
}

let ending = false

function endWithThisProcess(): void {
  if (ending) return
  ending = true
  process.once('exit', () => {
    for (const child of running) signalGroup(child.pid, 'SIGKILL')
  })
  const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(exitCodes[signal]))
  }
}
