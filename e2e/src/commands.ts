import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** Standard input; none by default. */
  readonly input?: string
  /** Exit codes that are an answer, not a failure. Default 0 alone. */
  readonly accepted?: readonly number[]
}

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

// Clusters of ours are on this machine: Go programs would ask a proxy for them.
const withoutProxies = Object.fromEntries(
  ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [
    [name, undefined],
    [name.toLowerCase(), undefined],
  ]),
)

/** Runs a program to its end. Rejects, with what it said, for an exit code that is not accepted. */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...withoutProxies, ...options.env },
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  })
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? -1))
  })
  // A program that does not read all of its input is no failure by itself.
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (!(options.accepted ?? [0]).includes(code)) {
    throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stderr}${stdout}`)
  }
  return { code, stdout, stderr }
}
