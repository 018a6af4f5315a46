import type { ClaimRow, ClusterReport, TagRow } from '../cluster-report.ts'
import { claimStates } from '../cluster-report.ts'
import { claimName, summarize } from '../summary.ts'
import type { NamedCoverage, Summary } from '../summary.ts'
import {
  counted,
  grouped,
  kindWord,
  percent,
  problemKindsOf,
  stateMeanings,
  stateWords,
  tagReasonWords,
} from '../words.ts'
import { cut, fit, printable } from './text.ts'

export interface TableOptions {
  /** Characters of a line. */
  readonly width: number
  /** Most claims that are listed one by one. */
  readonly rowsMax?: number
}

const rowsMaxDefault = 200
const coveragesMax = 10
const barWidth = 20

/** For a terminal: the figures, then the claims for which something is to be done. No line is longer than `width`. */
export function* renderTable(clusters: readonly ClusterReport[], options: TableOptions): Iterable<string> {
  for (const line of lines(clusters, options)) yield `${cut(printable(line), options.width).trimEnd()}\n`
}

function* lines(clusters: readonly ClusterReport[], options: TableOptions): Iterable<string> {
  const summary = summarize(clusters)
  yield* headOf(clusters)
  yield* figuresOf(summary)
  if (clusters.length > 1) yield* coverageOf('cluster', summary.byCluster)
  yield* coverageOf('namespace', summary.byNamespace)
  yield* coverageOf('tag', summary.byKey)
  yield* problemsOf(summary)
  yield* missingLabelsOf(summary)
  yield* claimsOf(clusters, options)
  yield* unreadOf(clusters)
}

function* headOf(clusters: readonly ClusterReport[]): Iterable<string> {
  const [first] = clusters
  if (first === undefined) return
  if (clusters.length > 1) yield `Fleet of ${counted(clusters.length, 'cluster')}`
  else {
    const name = first.cluster === '' ? 'Cluster' : `Cluster ${first.cluster}`
    const source = first.source === 'cloud' ? 'disks read from the cloud' : 'by the records on the volumes alone'
    yield `${name}, ${first.cloud}, ${first.generatedAt}, ${source}`
    if (first.namespaces.length > 0) yield `Only namespace ${first.namespaces.join(', ')}`
  }
  yield ''
}

function* figuresOf({ coverage, claims, states, wouldWrite, cloudCalls, kubernetesCalls }: Summary): Iterable<string> {
  yield `Coverage  ${percent(coverage.covered, coverage.all)}  ${grouped(coverage.covered)} of ${counted(coverage.all, 'disk')} carry what is wished`
  yield `Claims    ${grouped(claims)}`
  for (const state of claimStates) {
    if (states[state] === 0) continue
    yield `  ${grouped(states[state]).padStart(9)}  ${fit(stateWords[state], 16)}${stateMeanings[state]}`
  }
  const { disks, add, change, remove, cloudCalls: writes } = wouldWrite
  yield `Writes    ${counted(disks, 'disk')} to write: ${grouped(add)} tags added, ${grouped(change)} changed, ${grouped(remove)} removed`
  yield `          in about ${counted(writes, 'call')} to the cloud`
  yield `This look took ${counted(cloudCalls, 'call')} to the cloud, ${grouped(kubernetesCalls)} to the API server, and wrote nothing`
}

function* coverageOf(what: string, coverages: readonly NamedCoverage[]): Iterable<string> {
  if (coverages.length === 0) return
  yield ''
  yield `Coverage by ${what}`
  for (const { name, covered, all } of coverages.slice(0, coveragesMax)) {
    const filled = Math.floor((covered / all) * barWidth)
    const bar = '█'.repeat(filled).padEnd(barWidth, '·')
    yield `  ${fit(name, 32)} ${bar} ${percent(covered, all).padStart(7)}  ${grouped(covered)}/${grouped(all)}`
  }
  if (coverages.length > coveragesMax) yield `  … and ${grouped(coverages.length - coveragesMax)} more`
}

function* problemsOf({ problems }: Summary): Iterable<string> {
  if (problems.length === 0) return
  yield ''
  yield 'Problems'
  for (const { kind, claims, example } of problems) {
    yield `  ${grouped(claims).padStart(9)}  ${fit(kindWord(kind), 32)} ${example.claim}: ${example.message}`
  }
}

function* missingLabelsOf({ missingLabels, coverage }: Summary): Iterable<string> {
  if (missingLabels.length === 0) return
  yield ''
  yield 'Required labels'
  for (const { label, claims } of missingLabels) {
    yield `  ${grouped(claims).padStart(9)}  of ${counted(coverage.all, 'claim')} lack ${label}`
  }
}

function* claimsOf(
  clusters: readonly ClusterReport[],
  { width, rowsMax = rowsMaxDefault }: TableOptions,
): Iterable<string> {
  const named = clusters.length > 1
  const open = clusters.flatMap(({ cluster, claims }) =>
    claims
      .filter(needsAttention)
      .map((claim) => [named ? `${cluster} ${claimName(claim)}` : claimName(claim), claim] as const),
  )
  if (open.length === 0) return
  const nameWidth = Math.min(Math.max(...open.map(([name]) => name.length), 5), Math.max(20, Math.floor(width * 0.36)))
  yield ''
  yield `${fit('CLAIM', nameWidth)}  ${fit('STATE', 15)} WHAT`
  for (const [name, claim] of open.slice(0, rowsMax)) {
    yield `${fit(printable(name), nameWidth)}  ${fit(stateWords[claim.state], 15)} ${whatOf(claim)}`
  }
  if (open.length > rowsMax) yield `… and ${grouped(open.length - rowsMax)} more; --output csv, json or html has all`
}

function needsAttention(claim: ClaimRow): boolean {
  if (claim.state === 'differs' || claim.state === 'untagged') return true
  return problemKindsOf(claim).size > 0 || (claim.missingLabels.length > 0 && claim.state !== 'skipped')
}

/** `+team=core ~stage=prod (was test) -old`, then what is wrong. */
function whatOf({ tags, reason, detail, problems, missingLabels }: ClaimRow): string {
  const reasons =
    reason === undefined ? [] : [detail === undefined ? kindWord(reason) : `${kindWord(reason)}: ${detail}`]
  const others = problems.map(({ kind, label }) =>
    label === undefined ? kindWord(kind) : `${label}: ${kindWord(kind)}`,
  )
  const lacking = missingLabels.length > 0 ? [`lacks ${missingLabels.join(', ')}`] : []
  return [...reasons, ...tags.flatMap((tag) => whatOfTag(tag) ?? []), ...others, ...lacking].join('  ')
}

function whatOfTag({ key, value = '', present = '', state, reason }: TagRow): string | undefined {
  switch (state) {
    case 'add':
      return `+${key}=${value}`
    case 'change':
      return `~${key}=${value} (was ${present})`
    case 'remove':
      return `-${key}=${present}`
    case 'blocked':
    case 'stays':
      return reason === undefined ? undefined : `!${key} (${tagReasonWords[reason]})`
    case 'in-place':
    case 'unknown':
      return undefined
    default:
      return state satisfies never
  }
}

function* unreadOf(clusters: readonly ClusterReport[]): Iterable<string> {
  for (const { cluster, unread } of clusters) {
    if (unread.length === 0) continue
    yield ''
    yield `NOT COMPLETE${cluster === '' ? '' : ` (${cluster})`}: this could not be read`
    for (const { what, name, reason } of unread)
      yield `  ${[what, name].filter((part) => part !== '').join(' ')}: ${reason}`
  }
}
