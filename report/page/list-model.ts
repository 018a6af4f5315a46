import { isManagedState } from '../src/cluster-report.ts'
import type { ClaimState } from '../src/cluster-report.ts'
import type { PageData } from '../src/html/page-data.ts'
import { problemKindsOf } from '../src/words.ts'
import { decodeRow } from './decode-rows.ts'
import type { DecodedClaim } from './decode-rows.ts'

export type FilterName = 'state' | 'cluster' | 'namespace' | 'key' | 'problem' | 'label'

/** A value for each filter that is set. A namespace is of its cluster where that is given too. */
export type Filters = Readonly<Partial<Record<FilterName, string>>>

export type Column = 'claim' | 'cluster' | 'state' | 'tags' | 'disk'

export interface Query {
  /** Every word has to be somewhere in the claim, its names, its disk or its tags. */
  readonly search: string
  readonly filters: Filters
  readonly sort: { readonly column: Column; readonly descending: boolean }
}

/** A claim as the list shows it; read once, when the page is opened. */
export interface ListedClaim extends DecodedClaim {
  readonly wished: number
  readonly inPlace: number
}

/** All claims, and which of them a query selects, in which order. Holds a lower-case text of each claim to search in. */
export class ListModel {
  readonly claims: readonly ListedClaim[]
  readonly #texts: (string | undefined)[]
  readonly #orders = new Map<Column, Int32Array>()

  constructor(data: PageData) {
    this.claims = data.rows.map((row) => {
      const claim = decodeRow(data, row)
      const wished = claim.tags.filter(({ value }) => value !== undefined)
      return { ...claim, wished: wished.length, inPlace: wished.filter(({ state }) => state === 'in-place').length }
    })
    this.#texts = Array.from({ length: this.claims.length })
  }

  /** Indexes into `claims`. */
  select({ search, filters, sort }: Query): readonly number[] {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean)
    const passes = filterOf(filters)
    const selected: number[] = []
    for (const index of this.#order(sort.column)) {
      const claim = this.claims[index]
      if (claim === undefined || !passes(claim)) continue
      if (words.length === 0 || this.#holds(index, claim, words)) selected.push(index)
    }
    return sort.descending ? selected.toReversed() : selected
  }

  #holds(index: number, claim: ListedClaim, words: readonly string[]): boolean {
    const text = (this.#texts[index] ??= searchText(claim))
    return words.every((word) => text.includes(word))
  }

  /** Sorted once for each column; a search then only leaves out. */
  #order(column: Column): Int32Array {
    const known = this.#orders.get(column)
    if (known !== undefined) return known
    const { claims } = this
    const order = Int32Array.from(claims.keys()).sort((a, b) => {
      const one = claims[a]
      const other = claims[b]
      return one === undefined || other === undefined ? 0 : comparisons[column](one, other) || a - b
    })
    this.#orders.set(column, order)
    return order
  }
}

function filterOf({ state, cluster, namespace, key, problem, label }: Filters): (claim: ListedClaim) => boolean {
  const checks: ((claim: ListedClaim) => boolean)[] = []
  if (state !== undefined) checks.push((claim) => claim.state === state)
  if (cluster !== undefined) checks.push((claim) => claim.cluster === cluster)
  if (namespace !== undefined) checks.push((claim) => claim.namespace === namespace)
  // Those that wish the tag and do not have it are what somebody looks for who clicks on its bar.
  if (key !== undefined) {
    checks.push(({ tags }) =>
      tags.some((tag) => tag.key === key && tag.value !== undefined && tag.state !== 'in-place'),
    )
  }
  if (problem !== undefined) checks.push((claim) => problemKindsOf({ ...claim, record: 'none' }).has(problem))
  if (label !== undefined) checks.push((claim) => isManagedState(claim.state) && claim.missingLabels.includes(label))
  return (claim) => checks.every((check) => check(claim))
}

function searchText({ cluster, namespace, name, storageClass, volume, disk, tags, problems }: ListedClaim): string {
  const parts = [cluster, `${namespace}/${name}`, storageClass, volume, disk]
  for (const { key, value, present } of tags) {
    parts.push(`${key}=${value ?? present ?? ''}`)
    if (value !== undefined && present !== undefined && present !== value) parts.push(present)
  }
  for (const { label, message } of problems) parts.push(label, message)
  return parts.join('\n').toLowerCase()
}

const compareText = (a: string, b: string) => Number(a > b) - Number(a < b)
/** Where somebody has something to do comes first. */
const inOrderOfNeed = ['differs', 'missing', 'unread', 'partial', 'untagged', 'pending', 'tagged', 'skipped'] as const
const rank = new Map<ClaimState, number>(inOrderOfNeed.map((state, index) => [state, index]))

const comparisons: Readonly<Record<Column, (a: ListedClaim, b: ListedClaim) => number>> = {
  claim: (a, b) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name),
  cluster: (a, b) => compareText(a.cluster, b.cluster),
  state: (a, b) =>
    (rank.get(a.state) ?? 0) - (rank.get(b.state) ?? 0) || b.missingLabels.length - a.missingLabels.length,
  tags: (a, b) => b.wished - b.inPlace - (a.wished - a.inPlace) || a.inPlace - b.inPlace,
  disk: (a, b) => compareText(a.disk ?? '', b.disk ?? ''),
}
