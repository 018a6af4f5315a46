import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export interface CleanExitOptions {
  /** Puts the terminal in order; runs whatever ends this process. */
  readonly onExit: () => void
  /** Says why it ends early. */
  readonly say: (text: string) => void
}

/**
 * A folder of this run's own, and its removal whatever ends the process: the end of the demo, a signal or a fault. The
 * children are ended by `ManagedProcess`, in the same event.
 */
export function exitCleanly({ onExit, say }: CleanExitOptions): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'k8s-cloud-tagger-demo-'))
  process.once('exit', () => {
    onExit()
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  })
  for (const [signal, code] of Object.entries(signals)) {
    // Stays in place: a second Ctrl-C must not cut the first one's cleaning short.
    process.on(signal, () => {
      onExit()
      say('\nStopped. Nothing is left behind.\n')
      process.exit(code)
    })
  }
  const fault = (reason: unknown) => {
    onExit()
    say(`\nThe demo itself broke: ${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}\n`)
    process.exit(1)
  }
  process.on('uncaughtException', fault)
  process.on('unhandledRejection', fault)
  // Whoever read us is gone (`make demo | head`): there is nobody left to tell.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(1))
  return folder
}
