import { setTimeout as sleep } from 'node:timers/promises'
import type { Scene } from '../view/scene.ts'
import type { View } from '../view/view.ts'
import { shownMs, wrap } from '../view/text.ts'
import type { Act, Stage } from './act.ts'
import { cloudCalls, briefCalls } from './calls.ts'
import { readableLogLine } from './log-line.ts'

export interface ActResult {
  readonly act: Act
  /** Empty where everything was as expected. */
  readonly problems: readonly string[]
  readonly outcome: string
}

const checkEveryMs = 50
const frameEveryMs = 100
/** What is right has to stay right for as long: a late write would show. */
const steadyMs = 400
const logLines = 12

export interface RunOptions {
  readonly stage: Stage
  readonly view: View
  readonly elapsedMs: () => number
  /** Time for a person to read what is about to happen; 0 where nobody reads along. */
  readonly readingMs: number
}

/**
 * Plays the acts one after another, whatever came of the one before, and says how each went. Where the first one fails,
 * in which the programs start, or a program has crashed, there is nothing more to be seen.
 */
export async function runActs(acts: readonly Act[], options: RunOptions): Promise<readonly ActResult[]> {
  const { view, stage } = options
  const results: ActResult[] = []
  /** What an act found wrong is not held against those after it. */
  const known = new Set<string>()
  for (const [index, act] of acts.entries()) {
    const scene = (): Scene => sceneOf(act, index, acts.length, options)
    view.announce(scene())
    const frames = setInterval(() => view.show(scene()), frameEveryMs)
    try {
      await sleep(options.readingMs)
      const result = await runAct(act, stage, known)
      results.push(result)
      for (const problem of result.problems) known.add(problem)
      view.keep(resultLines(result, index + 1, view))
      if (result.problems.length > 0) view.keep(lastWords(act, stage))
    } finally {
      clearInterval(frames)
    }
    view.show(scene())
    const hasStarted = results[0]?.problems.length === 0
    if (!hasStarted || crashed(stage).length > 0) break
  }
  return results
}

async function runAct(act: Act, stage: Stage, known: ReadonlySet<string>): Promise<ActResult> {
  const startedMs = performance.now()
  try {
    await act.play(stage)
  } catch (error) {
    return { act, outcome: '', problems: [error instanceof Error ? error.message : String(error)] }
  }
  let rightSinceMs: number | undefined
  for (;;) {
    const ended = crashed(stage)
    if (ended.length > 0) return { act, problems: ended, outcome: '' }
    const problems = (await problemsOf(act, stage)).filter((problem) => !known.has(problem))
    const nowMs = performance.now()
    rightSinceMs = problems.length > 0 ? undefined : (rightSinceMs ?? nowMs)
    if (rightSinceMs !== undefined && nowMs - rightSinceMs >= steadyMs) {
      return { act, problems, outcome: act.outcome(stage) }
    }
    const isOver = nowMs - startedMs > act.withinMs && problems.length > 0
    if (isOver) return { act, outcome: '', problems: [...problems, `so it was after ${shownMs(act.withinMs)}`] }
    await sleep(checkEveryMs)
  }
}

async function problemsOf(act: Act, stage: Stage): Promise<readonly string[]> {
  try {
    return [...stage.expected.problems(), ...((await act.problems?.(stage)) ?? [])]
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

function crashed({ world }: Stage): readonly string[] {
  return world.programs
    .filter((program) => program.hasCrashed)
    .map((program) => `${program.name} has ended though nobody stopped it`)
}

function sceneOf(act: Act, index: number, actCount: number, { stage, elapsedMs }: RunOptions): Scene {
  return {
    act: act.title,
    actNumber: index + 1,
    actCount,
    words: act.words,
    elapsedMs: elapsedMs(),
    entries: stage.ledger.entries,
    calls: `Calls to EC2 so far: ${briefCalls(cloudCalls(stage.world.cloud))}`,
  }
}

function resultLines({ act, problems, outcome }: ActResult, number: number, { width, style }: View): readonly string[] {
  const isRight = problems.length === 0
  const mark = isRight ? style.good('ok ') : style.bad('NOT')
  const [first = '', ...rest] = wrap(`${number} ${act.title}${outcome === '' ? '' : `: ${outcome}`}`, width - 4)
  return [
    `${mark} ${first}`,
    ...rest.map((line) => `      ${line}`),
    ...problems.flatMap((problem) =>
      `- ${problem}`.split('\n').flatMap((line) => wrap(line, width - 6).map((part) => `      ${part}`)),
    ),
  ]
}

/** The end of the logs of those whom an act was about. */
function lastWords({ concerns }: Act, { world }: Stage): readonly string[] {
  const lines: string[] = []
  for (const program of world.programs.filter(({ kind }) => concerns.includes(kind))) {
    const last = program.lastLines(logLines)
    lines.push(`      The last lines of ${program.name}:${last.length === 0 ? ' there are none' : ''}`)
    for (const line of last) lines.push(`        ${readableLogLine(line)}`)
  }
  return lines
}
