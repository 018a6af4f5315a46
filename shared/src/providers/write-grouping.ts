/** Which calls a set of writes needs, where one call puts one set of tags on up to `idsPerCall` disks. Pure. */

export type Pair = readonly [key: string, value: string]

export type Operation = 'set' | 'remove'
export const operations: readonly Operation[] = ['set', 'remove']

/** Pairs by their name, in order of it. */
export type Pairs = ReadonlyMap<string, Pair>

/** What is written to one disk. */
export type Write = Readonly<Record<Operation, Pairs>>

/** Writes that are equal but for their disk. */
export interface WriteGroup<Job> {
  readonly write: Write
  readonly jobs: ReadonlySet<Job>
}

export interface WriteCall<Job> {
  readonly operation: Operation
  readonly pairs: readonly Pair[]
  readonly jobs: readonly Job[]
}

export interface WriteLimits {
  readonly idsPerCall: number
  /** Calls of one operation that may leave together: a disk that needs several waits for all of them. */
  readonly callsAtOnce: Readonly<Record<Operation, number>>
}

/** How many groups like the leading one are weighed; the cost grows with their square. */
const groupsWeighed = 500

// A NUL cannot occur in a tag.
const insidePair = '\0'
const betweenPairs = '\0\0'

export function namedPairs(pairs: readonly Pair[]): Pairs {
  const named = pairs.map((pair) => [pair.join(insidePair), pair] as const)
  return new Map(named.sort(([a], [b]) => compare(a, b)))
}

/** Equal for equal pairs, and for no others. */
export function nameOfAll(pairs: Pairs): string {
  return [...pairs.keys()].join(betweenPairs)
}

/**
 * Chooses what leaves with the leading group: itself alone, or together with groups that are like it, where sending
 * shared tags once for all of them costs fewer calls. The leading group is one of `groups`.
 */
export function chooseWrites<Job>(
  groups: Iterable<WriteGroup<Job>>,
  leading: WriteGroup<Job>,
  limits: WriteLimits,
): readonly WriteCall<Job>[] {
  const { idsPerCall } = limits
  let window = neighbours(relatives(groups, leading), leading, idsPerCall)
  while (window.length > 1) {
    const calls = cheapestCalls(window, idsPerCall)
    if (calls.length < callsApart(window) && fits(calls, limits)) return calls
    window = window.slice(0, Math.floor(window.length / 2))
  }
  return cheapestCalls([{ ...leading, jobs: new Set([...leading.jobs].slice(0, idsPerCall)) }], idsPerCall)
}

/**
 * The cheapest of several ways: a call for each distinct write; a call for each tag, with whatever all its disks have in
 * common besides; or that for the tags which many writes share, and then what remains, by equal remainders. Of equals
 * the one that needs the fewest calls for a disk.
 */
export function cheapestCalls<Job>(groups: readonly WriteGroup<Job>[], idsPerCall: number): readonly WriteCall<Job>[] {
  return operations.flatMap((operation) => {
    const concerned = groups.filter(({ write }) => write[operation].size > 0)
    const holders = holdersByPair(concerned, operation)
    let best = callsSharing(concerned, operation, [])
    for (let atLeast = concerned.length; atLeast >= 1 && concerned.length > 1; atLeast = Math.floor(atLeast / 2)) {
      const shared = [...holders].filter(([, members]) => members.length >= atLeast)
      const calls = callsSharing(concerned, operation, shared)
      if (countCalls(calls, idsPerCall) < countCalls(best, idsPerCall)) best = calls
    }
    return best.flatMap((call) => inChunks(call, idsPerCall))
  })
}

/**
 * Calls for the shared tags, rarest first: the call for a rare tag takes along what all of its disks have in common, so
 * that the common ones have fewer left to serve. Then the remainders. `shared` holds the indexes of each pair's groups.
 */
function callsSharing<Job>(
  groups: readonly WriteGroup<Job>[],
  operation: Operation,
  shared: readonly (readonly [name: string, members: readonly number[]])[],
): WriteCall<Job>[] {
  const left = groups.map(({ write }) => new Map(write[operation]))
  const calls: WriteCall<Job>[] = []
  const addCall = (members: readonly number[], pairs: Pairs) => {
    calls.push({
      operation,
      pairs: [...pairs.values()],
      jobs: members.flatMap((index) => Array.from(groups[index]?.jobs ?? [])),
    })
    for (const index of members) for (const name of pairs.keys()) left[index]?.delete(name)
  }
  for (const [name, holders] of shared.toSorted(([, a], [, b]) => a.length - b.length)) {
    const members = holders.filter((index) => left[index]?.has(name))
    const [first, ...others] = members
    if (first === undefined) continue
    const common = [...(left[first] ?? [])].filter(([name]) => others.every((index) => left[index]?.has(name)))
    addCall(members, new Map(common))
  }
  for (const { members, pairs } of equalOnes(left)) addCall(members, pairs)
  return calls
}

function equalOnes(left: readonly Pairs[]): readonly { readonly pairs: Pairs; readonly members: number[] }[] {
  const found = new Map<string, { readonly pairs: Pairs; readonly members: number[] }>()
  left.forEach((pairs, index) => {
    if (pairs.size === 0) return
    const name = nameOfAll(pairs)
    const entry = found.get(name) ?? { pairs: new Map(pairs), members: [] }
    entry.members.push(index)
    found.set(name, entry)
  })
  return [...found.values()]
}

function holdersByPair(groups: readonly WriteGroup<unknown>[], operation: Operation): Map<string, number[]> {
  const holders = new Map<string, number[]>()
  groups.forEach(({ write }, index) => {
    for (const name of write[operation].keys()) {
      const members = holders.get(name) ?? []
      members.push(index)
      holders.set(name, members)
    }
  })
  return holders
}

/**
 * The groups to be weighed with the leading one: where there are too many, those that share a tag with it, a rare one
 * first. It is among them.
 */
function relatives<Job>(groups: Iterable<WriteGroup<Job>>, leading: WriteGroup<Job>): readonly WriteGroup<Job>[] {
  const all = [...groups]
  const counts = countPairsOf(leading.write, all)
  if (needsOwnCalls(leading.write, counts)) return [leading]
  if (all.length <= groupsWeighed) return all
  const ranked = all.flatMap((group) => {
    const rank = group === leading ? 0 : rarestShared(group.write, counts)
    return rank === undefined ? [] : [{ group, rank }]
  })
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, groupsWeighed)
    .map(({ group }) => group)
}

/**
 * The leading group and what comes after it, as far as one call's ids go, in an order that brings together what shares
 * rare tags: by the names of each write's pairs, rarest first.
 */
function neighbours<Job>(
  groups: readonly WriteGroup<Job>[],
  leading: WriteGroup<Job>,
  idsPerCall: number,
): readonly WriteGroup<Job>[] {
  const counts = countPairs(groups)
  const ordered = groups
    .filter(({ write }) => !needsOwnCalls(write, counts))
    .map((group) => ({ group, name: rarestFirst(group.write, counts) }))
    .sort((a, b) => compare(a.name, b.name))
  const start = ordered.findIndex(({ group }) => group === leading)
  const window: WriteGroup<Job>[] = []
  let ids = 0
  for (const { group } of [...ordered.slice(start), ...ordered.slice(0, start)]) {
    ids += group.jobs.size
    if (ids > idsPerCall) break
    window.push(group)
  }
  return window
}

type PairCounts = Readonly<Record<Operation, ReadonlyMap<string, number>>>

/** How many groups have each pair. */
function countPairs(groups: readonly WriteGroup<unknown>[]): PairCounts {
  const counts = { set: new Map<string, number>(), remove: new Map<string, number>() }
  for (const { write } of groups) {
    for (const operation of operations) {
      for (const name of write[operation].keys()) counts[operation].set(name, (counts[operation].get(name) ?? 0) + 1)
    }
  }
  return counts
}

/** The same for the pairs of one write alone. */
function countPairsOf(write: Write, groups: readonly WriteGroup<unknown>[]): PairCounts {
  const count = (operation: Operation) => {
    const counts = new Map<string, number>()
    for (const name of write[operation].keys()) {
      let count = 0
      for (const group of groups) if (group.write[operation].has(name)) count += 1
      counts.set(name, count)
    }
    return counts
  }
  return { set: count('set'), remove: count('remove') }
}

/** A tag that no other write has needs a call of its own, which can carry all the rest: company would save nothing. */
function needsOwnCalls(write: Write, counts: PairCounts): boolean {
  return operations.every(
    (operation) =>
      write[operation].size === 0 || [...write[operation].keys()].some((name) => counts[operation].get(name) === 1),
  )
}

function rarestShared(write: Write, counts: PairCounts): number | undefined {
  let rarest: number | undefined
  for (const operation of operations) {
    for (const name of write[operation].keys()) {
      const count = counts[operation].get(name)
      if (count !== undefined && (rarest === undefined || count < rarest)) rarest = count
    }
  }
  return rarest
}

function rarestFirst(write: Write, counts: PairCounts): string {
  const names = operations.flatMap((operation) => {
    const count = (name: string) => counts[operation].get(name) ?? 0
    return [...write[operation].keys()].sort((a, b) => count(a) - count(b) || compare(a, b))
  })
  return names.join(betweenPairs)
}

/** Calls, if each of these groups went by itself. */
function callsApart(groups: readonly WriteGroup<unknown>[]): number {
  return groups.reduce((sum, { write }) => sum + Number(write.set.size > 0) + Number(write.remove.size > 0), 0)
}

function fits(calls: readonly WriteCall<unknown>[], { callsAtOnce }: WriteLimits): boolean {
  return operations.every(
    (operation) => calls.filter((call) => call.operation === operation).length <= callsAtOnce[operation],
  )
}

function countCalls(calls: readonly WriteCall<unknown>[], idsPerCall: number): number {
  return calls.reduce((sum, { jobs }) => sum + Math.ceil(jobs.length / idsPerCall), 0)
}

function inChunks<Job>(call: WriteCall<Job>, idsPerCall: number): WriteCall<Job>[] {
  const chunks: WriteCall<Job>[] = []
  for (let at = 0; at < call.jobs.length; at += idsPerCall) {
    chunks.push({ ...call, jobs: call.jobs.slice(at, at + idsPerCall) })
  }
  return chunks
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
