import { claimStates, isManagedState } from './cluster-report.ts'
import type { ClaimRow, ClaimState, ClusterReport, WouldWrite } from './cluster-report.ts'
import { problemKindsOf } from './words.ts'

export interface Summary {
  readonly claims: number
  readonly states: Readonly<Record<ClaimState, number>>
  readonly coverage: Coverage
  readonly byCluster: readonly NamedCoverage[]
  readonly byNamespace: readonly NamespaceCoverage[]
  /** Of the disks for which a tag is wished: how many carry it as it is wished. */
  readonly byKey: readonly NamedCoverage[]
  readonly problems: readonly ProblemCount[]
  /** Claims that have any of them. */
  readonly withProblems: number
  /** Claims that have a disk and lack a label that is required. */
  readonly missingLabels: readonly { readonly label: string; readonly claims: number }[]
  /** Claims that have a disk and lack any of them. */
  readonly lackingLabels: number
  readonly wouldWrite: WouldWrite
  readonly cloudCalls: number
  readonly kubernetesCalls: number
  readonly complete: boolean
}

/** `covered` of `all`: disks that carry at least one wished tag, and each of them as it is wished. */
export interface Coverage {
  readonly covered: number
  readonly all: number
}

export interface NamedCoverage extends Coverage {
  readonly name: string
}

export interface NamespaceCoverage extends NamedCoverage {
  readonly cluster: string
}

export interface ProblemCount {
  readonly kind: string
  readonly claims: number
  /** One claim that has it, and what is said there. */
  readonly example: { readonly claim: string; readonly message: string }
}

/** The figures that a table or page starts with; over one cluster or many. */
export function summarize(clusters: readonly ClusterReport[]): Summary {
  const rows = clusters.flatMap(({ cluster, claims }) => claims.map((row) => ({ cluster, row })))
  const managed = rows.filter(({ row }) => isManagedState(row.state))
  const states = Object.fromEntries(claimStates.map((state) => [state, 0])) as Record<ClaimState, number>
  for (const { row } of rows) states[row.state]++
  return {
    claims: rows.length,
    states,
    coverage: { covered: states.tagged, all: managed.length },
    byCluster: coverageBy(managed, ({ cluster }) => cluster),
    byNamespace: coverageByNamespace(clusters),
    byKey: coverageByKey(managed.map(({ row }) => row)),
    problems: countProblems(rows),
    withProblems: rows.filter(({ row }) => problemKindsOf(row).size > 0).length,
    missingLabels: countMissingLabels(
      clusters,
      managed.map(({ row }) => row),
    ),
    lackingLabels: managed.filter(({ row }) => row.missingLabels.length > 0).length,
    wouldWrite: total(clusters.map(({ wouldWrite }) => wouldWrite)),
    cloudCalls: sum(clusters.flatMap(({ calls }) => Object.values(calls.cloud))),
    kubernetesCalls: sum(clusters.map(({ calls }) => calls.kubernetes)),
    complete: clusters.every(({ complete }) => complete),
  }
}

interface PlacedRow {
  readonly cluster: string
  readonly row: ClaimRow
}

/** Those with the most to do first. */
function coverageBy(rows: readonly PlacedRow[], nameOf: (row: PlacedRow) => string): readonly NamedCoverage[] {
  const counts = new Map<string, { covered: number; all: number }>()
  for (const placed of rows) add(counts, nameOf(placed), placed.row.state === 'tagged')
  return inOrder(counts)
}

function coverageByNamespace(clusters: readonly ClusterReport[]): readonly NamespaceCoverage[] {
  return clusters
    .flatMap(({ cluster, claims }) => {
      const placed = claims.filter(({ state }) => isManagedState(state)).map((row) => ({ cluster, row }))
      return coverageBy(placed, ({ row }) => row.namespace).map(({ name, covered, all }) => ({
        cluster,
        name,
        covered,
        all,
      }))
    })
    .toSorted(mostOpenFirst)
}

function coverageByKey(rows: readonly ClaimRow[]): readonly NamedCoverage[] {
  const counts = new Map<string, { covered: number; all: number }>()
  for (const { tags } of rows) {
    for (const { key, value, state } of tags) if (value !== undefined) add(counts, key, state === 'in-place')
  }
  return inOrder(counts)
}

function add(counts: Map<string, { covered: number; all: number }>, name: string, covered: boolean): void {
  const count = counts.get(name) ?? { covered: 0, all: 0 }
  count.all++
  if (covered) count.covered++
  counts.set(name, count)
}

function inOrder(counts: ReadonlyMap<string, Coverage>): readonly NamedCoverage[] {
  return [...counts].map(([name, { covered, all }]) => ({ name, covered, all })).toSorted(mostOpenFirst)
}

function mostOpenFirst(a: NamedCoverage, b: NamedCoverage): number {
  return b.all - b.covered - (a.all - a.covered) || b.all - a.all || (a.name < b.name ? -1 : 1)
}

function countProblems(rows: readonly PlacedRow[]): readonly ProblemCount[] {
  const counts = new Map<string, { claims: number; example: ProblemCount['example'] }>()
  for (const { row } of rows) {
    for (const kind of problemKindsOf(row)) {
      const known = counts.get(kind)
      if (known !== undefined) known.claims++
      else counts.set(kind, { claims: 1, example: { claim: claimName(row), message: exampleOf(row, kind) } })
    }
  }
  return [...counts]
    .map(([kind, { claims, example }]) => ({ kind, claims, example }))
    .toSorted((a, b) => b.claims - a.claims || (a.kind < b.kind ? -1 : 1))
}

function exampleOf({ problems, tags, detail, disk }: ClaimRow, kind: string): string {
  const problem = problems.find((each) => each.kind === kind)
  if (problem !== undefined)
    return problem.label === undefined ? problem.message : `${problem.label}: ${problem.message}`
  const tag = tags.find(({ reason }) => reason === kind)
  return tag?.key ?? detail ?? disk ?? ''
}

export function claimName({ namespace, name }: Pick<ClaimRow, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`
}

function countMissingLabels(
  clusters: readonly ClusterReport[],
  managed: readonly ClaimRow[],
): Summary['missingLabels'] {
  const counts = new Map<string, number>(
    clusters.flatMap(({ requiredLabels }) => requiredLabels.map((label) => [label, 0] as const)),
  )
  for (const { missingLabels } of managed) {
    for (const label of missingLabels) counts.set(label, (counts.get(label) ?? 0) + 1)
  }
  return [...counts].map(([label, claims]) => ({ label, claims })).toSorted((a, b) => b.claims - a.claims)
}

function total(all: readonly WouldWrite[]): WouldWrite {
  const of = (field: keyof WouldWrite) => sum(all.map((each) => each[field]))
  return {
    disks: of('disks'),
    add: of('add'),
    change: of('change'),
    remove: of('remove'),
    cloudCalls: of('cloudCalls'),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0)
}
