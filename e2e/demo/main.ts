import { readArguments, usage, wantsTerminalView } from './arguments.ts'
import { exitCleanly } from './clean-exit.ts'
import { runOurScript, runOwnManifests } from './scripts.ts'
import { PlainView } from './view/plain-view.ts'
import { TerminalView } from './view/terminal-view.ts'

/** Many times what a demo takes. */
const limitMs = 180_000
/** For two lines of text. */
const readingMs = 1800

const startedMs = performance.now()
const elapsedMs = () => performance.now() - startedMs

async function main(): Promise<number> {
  const request = readArguments(process.argv.slice(2))
  if (request.kind === 'help') {
    process.stdout.write(`${usage}\n`)
    return 0
  }
  if (request.kind === 'wrong') {
    process.stderr.write(`${request.problem}\n\n${usage}\n`)
    return 2
  }

  const isLive = wantsTerminalView(process.env, process.stdout.isTTY)
  const view = isLive
    ? new TerminalView(process.stdout)
    : new PlainView({ write: (text) => process.stdout.write(text), elapsedMs })
  const fail = (text: string) => {
    view.close()
    process.stderr.write(text)
  }
  const folder = exitCleanly({ onExit: () => view.close(), say: (text) => process.stderr.write(text) })
  setTimeout(() => {
    fail(`\nThe demo has not ended within ${limitMs / 60_000} minutes and is given up.\n`)
    process.exit(1)
  }, limitMs).unref()

  const show = { view, elapsedMs, folder, readingMs: isLive ? readingMs : 0 }
  const code = request.kind === 'play' ? await runOurScript(show) : await runOwnManifests(request.folder, show, fail)
  view.close()
  return code
}

process.exit(await main())
