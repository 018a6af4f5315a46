/** The one command in the image: picks the program and hands over. */
import { version } from '@k8s-cloud-tagger/shared/runtime/version.ts'

const programs: Readonly<Record<string, string>> = {
  webhook: './webhook.js',
  reconciler: './reconciler.js',
  report: './report.js',
}

const usage = `Usage: k8s-cloud-tagger <command> [--help] [--version]

Puts the labels of Kubernetes PersistentVolumeClaims as tags on the cloud disks behind them.

Commands:
  webhook      sees claims as they are created and changed, and tags their disks at once
  reconciler   catches what the webhook could not see, and repairs drift
  report       says what would be written to which disk and why, and writes nothing
`

/**
 * Much of what a job needs is short-lived: a small young generation and a heap that is collected before it has doubled
 * halve the memory of a busy program, for a little more processor time. The flags must be there when Node starts. Not for
 * the report, which is soon over.
 */
const memoryFlags = ['--max-semi-space-size=2', '--heap-growing-percent=40']

/** Replaces this process by the same one with the flags; its id and its files stay. Not there on Windows or before Node 23. */
function restartWithFlags(): void {
  if (memoryFlags.every((flag) => process.execArgv.includes(flag)) || process.execve === undefined) return
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...memoryFlags, ...process.argv.slice(1)])
}

const [command = '--help', ...rest] = process.argv.slice(2)
const program = programs[command]
if (program !== undefined) {
  if (command !== 'report') restartWithFlags()
  process.argv = [process.argv[0] ?? 'node', command, ...rest]
  await import(program)
} else if (command === '--version') {
  process.stdout.write(`${version}\n`)
} else if (command === '--help' || command === '-h') {
  process.stdout.write(usage)
} else {
  process.stderr.write(`There is no command ${command}.\n\n${usage}`)
  process.exitCode = 2
}
