import { readFileSync } from 'node:fs'
import { waitForHttp } from './http.ts'
import { ManagedProcess } from './managed-process.ts'

export interface ProgramOptions {
  /** For messages. */
  readonly name: string
  /** A `.ts` or `.js` file for this Node.js. */
  readonly entry: string
  readonly args?: readonly string[]
  /** Flags of Node.js itself, such as `--max-old-space-size=64`. */
  readonly nodeArgs?: readonly string[]
  /** Added to this process's environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  readonly logFile: string
  /** Started is when this URL answers with 200; without it, when the process runs. */
  readonly readyUrl?: string
  /** Where `readyUrl` is https. */
  readonly caPem?: string
  /** Default 30,000. */
  readonly readyWithinMs?: number
  /** Told of the process while it is not ready yet. */
  readonly onStarted?: (process: ManagedProcess) => void
}

/** Starts a program under this Node.js and waits until it is ready; where it never is, it is killed and the call rejects. */
export async function startProgram(options: ProgramOptions): Promise<ManagedProcess> {
  const process = await launch(options)
  options.onStarted?.(process)
  if (options.readyUrl === undefined) return process
  try {
    await waitForHttp(options.readyUrl, {
      process,
      ...(options.caPem !== undefined && { caPem: options.caPem }),
      ...(options.readyWithinMs !== undefined && { withinMs: options.readyWithinMs }),
    })
    return process
  } catch (error) {
    await process.kill()
    throw error
  }
}

function launch({ name, entry, args = [], nodeArgs = [], env, cwd, logFile }: ProgramOptions): Promise<ManagedProcess> {
  return ManagedProcess.start({
    name,
    command: process.execPath,
    args: [...nodeArgs, entry, ...args],
    logFile,
    ...(env !== undefined && { env }),
    ...(cwd !== undefined && { cwd }),
  })
}

export interface MemoryUse {
  /** Everything resident, in MiB. */
  readonly rssMiB: number
  /** What the kernel cannot drop, in MiB: without the pages of Node's own binary. */
  readonly anonymousMiB: number
  /** The highest `rssMiB` so far. */
  readonly peakRssMiB: number
}

/** As Linux counts it; the process must be running. */
export function memoryOf({ pid }: ManagedProcess): MemoryUse {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (field: string) => {
    const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'mu').exec(status)?.[1]
    if (kibibytes === undefined) throw new Error(`/proc/${pid}/status has no ${field}`)
    return Number(kibibytes) / 1024
  }
  return { rssMiB: mebibytes('VmRSS'), anonymousMiB: mebibytes('RssAnon'), peakRssMiB: mebibytes('VmHWM') }
}

/** Processor time used so far, in milliseconds, user and system together. */
export function cpuMsOf({ pid }: ManagedProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field, the command in brackets, may contain spaces; the fields from the third on follow it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [userTicks, systemTicks] = [Number(fields[11]), Number(fields[12])]
  // USER_HZ is 100 on every Linux that Node.js runs on.
  return (userTicks + systemTicks) * 10
}
