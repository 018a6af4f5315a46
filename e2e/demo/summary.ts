import { type Calls, describeCalls } from './acts/calls.ts'
import type { ActResult } from './acts/run-acts.ts'
import type { Style } from './view/style.ts'
import { counted, fit, shownMs, wrap } from './view/text.ts'

export interface Figures {
  readonly calls: readonly Calls[]
  /** By each program: calls to the API server without its watches and its Lease, and writes to disks. */
  readonly kubernetes: readonly { readonly program: string; readonly calls: number; readonly writes: number }[]
  /** Median milliseconds, and of how many; a median of nothing is undefined. */
  readonly medians: readonly { readonly what: string; readonly medianMs: number | undefined; readonly count: number }[]
  readonly cloudLatencyMs: number
}

export interface Verdict {
  readonly disks: number
  readonly wrongDisks: number
  /** Beside what the acts found. */
  readonly problems: readonly string[]
}

/** Act, what was expected, ok or NOT. */
export function actTable(
  results: readonly ActResult[],
  { width, style }: { width: number; style: Style },
): readonly string[] {
  const titleWidth = Math.max(...results.map(({ act }, index) => numbered(act.title, index).length), 'ACT'.length)
  const expectationWidth = Math.min(90, width - titleWidth - 'NOT'.length - 4)
  const lines = results.flatMap(({ act, problems }, index) => {
    const [first = '', ...rest] = wrap(act.expectation, expectationWidth)
    const mark = problems.length === 0 ? style.good('ok') : style.bad('NOT')
    return [
      `${fit(numbered(act.title, index), titleWidth)}  ${fit(first, expectationWidth)}  ${mark}`,
      ...rest.map((line) => `${' '.repeat(titleWidth)}  ${line}`),
    ]
  })
  return [style.bold(`${fit('ACT', titleWidth)}  WHAT WAS EXPECTED`), ...lines]
}

function numbered(title: string, index: number): string {
  return `${index + 1} ${title}`
}

export function figureLines(
  { calls, kubernetes, medians, cloudLatencyMs }: Figures,
  { width, style }: { width: number; style: Style },
): readonly string[] {
  const named = (name: string, text: string) => {
    const lines = wrap(text, width - 18)
    return lines.map((line, index) => `${style.bold(fit(index === 0 ? name : '', 18))}${line}`)
  }
  const perWrite = kubernetes
    .filter(({ writes }) => writes > 0)
    .map(
      ({ program, calls: count, writes }) => `${(count / writes).toFixed(1)} by the ${program} (${count} : ${writes})`,
    )
  const times = medians
    .filter(({ count }) => count > 0)
    .map(({ what, medianMs = 0, count }) => `${what} ${shownMs(medianMs)} (of ${count})`)
  return [
    ...named('Calls to EC2', describeCalls(calls)),
    ...(perWrite.length === 0 ? [] : named('Kubernetes calls', `for each change of a disk ${perWrite.join(', ')}`)),
    ...(times.length === 0 ? [] : named('Webhook, median', `${times.join(', ')}; EC2 answers in ${cloudLatencyMs} ms`)),
  ]
}

export function verdictLines(
  { disks, wrongDisks, problems }: Verdict,
  failedActs: number,
  style: Style,
): readonly string[] {
  const notes = problems.map((problem) => `${style.bad('NOT')} ${problem}`)
  if (wrongDisks === 0 && problems.length === 0 && failedActs === 0) {
    return [style.good(style.bold(`All ${counted(disks, 'disk')} ended right.`))]
  }
  const parts = [
    wrongDisks === 0
      ? `all ${counted(disks, 'disk')} ended right`
      : `${wrongDisks} of ${counted(disks, 'disk')} ended wrong`,
    failedActs === 0 ? 'every act went as it should' : `${counted(failedActs, 'act')} did not go as it should`,
  ]
  return [...notes, style.bad(style.bold(`Not right: ${parts.join('; ')}.`))]
}
