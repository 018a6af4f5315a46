import type { Act, Stage } from './acts/act.ts'
import { cloudCalls } from './acts/calls.ts'
import { runActs } from './acts/run-acts.ts'
import { median } from './median.ts'
import { claimTable } from './view/claim-table.ts'
import { actTable, figureLines, verdictLines } from './summary.ts'
import type { View } from './view/view.ts'
import { cloudLatencyMs, type World } from './world/world.ts'
import type { ClaimLedger, Write } from './ledger/claim-ledger.ts'

export interface PlayOptions {
  readonly stage: Stage
  readonly view: View
  readonly elapsedMs: () => number
  readonly readingMs: number
  /** Shown before the summary, in place of the table. */
  readonly report?: () => readonly string[]
}

/** Plays the acts, stops everything and sums up. Resolves to whether all was right. */
export async function play(acts: readonly Act[], options: PlayOptions): Promise<boolean> {
  const { stage, view, elapsedMs } = options
  const { world, ledger, expected } = stage
  const results = await runActs(acts, options)
  const wrongDisks = expected.wrongCount()
  ledger.stop()
  const figures = {
    calls: cloudCalls(world.cloud),
    kubernetes: kubernetesCalls(world, ledger),
    medians: [
      { what: 'bind to tag', ...median(timesOf(ledger, { cause: 'bind', inGroup: false })) },
      { what: 'of many at once', ...median(timesOf(ledger, { cause: 'bind', inGroup: true })) },
      { what: 'label to tag', ...median(timesOf(ledger, { cause: 'label', inGroup: false })) },
    ],
    cloudLatencyMs,
  }
  view.announce({
    act: '',
    actNumber: results.length < acts.length ? results.length : acts.length + 1,
    actCount: acts.length,
    words: 'All programs are asked to stop.',
    elapsedMs: elapsedMs(),
    entries: ledger.entries,
    calls: '',
  })
  const report = options.report?.()
  const problems = await world.stop()
  view.settle(report ?? claimTable(ledger.entries, { width: view.width, style: view.style, linesMax: Infinity }))

  const failedActs = results.filter((result) => result.problems.length > 0).length
  view.keep(['', ...actTable(results, view), '', ...figureLines(figures, view), ''])
  view.keep(verdictLines({ disks: expected.size, wrongDisks, problems }, failedActs, view.style))
  return failedActs === 0 && wrongDisks === 0 && problems.length === 0
}

/** By the webhook: the reconciler waits on purpose. */
function timesOf({ writes }: ClaimLedger, wanted: Pick<Write, 'cause' | 'inGroup'>): readonly number[] {
  return writes
    .filter(
      ({ door, cause, inGroup }) => door.startsWith('webhook') && cause === wanted.cause && inGroup === wanted.inGroup,
    )
    .map(({ afterMs }) => afterMs)
}

/** Watches and the Lease go on for as long as a program lives, whatever it does. */
function kubernetesCalls({ kubernetes, users }: World, { writesBy }: ClaimLedger) {
  const callsOf = (user: string) =>
    kubernetes.log
      .counts()
      .filter((count) => count.user === user && !['watch', 'list'].includes(count.verb) && count.resource !== 'leases')
      .reduce((sum, { requests }) => sum + requests, 0)
  const writesOf = (door: RegExp) =>
    [...writesBy].filter(([name]) => door.test(name)).reduce((sum, [, writes]) => sum + writes, 0)
  return [
    { program: 'webhook', calls: callsOf(users.webhook), writes: writesOf(/^webhook/u) },
    { program: 'reconciler', calls: callsOf(users.reconciler), writes: writesOf(/^(?:reconciler|sweep)$/u) },
  ]
}
