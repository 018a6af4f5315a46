/** Which calls a set of writes needs, where one call puts one set of tags on up to `idsPerCall` disks. Pure. */

export type Pair = readonly [key: string, value: string]

export type Operation = 'set' | 'remove'
export const operations: readonly Operation[] = ['set', 'remove']

/** What is written to one disk, in a fixed order. */
export type Write = Readonly<Record<Operation, readonly Pair[]>>

/** Writes that are equal but for their disk. */
export interface WriteGroup<Job> {
  readonly write: Write
  readonly jobs: readonly Job[]
}

export interface WriteCall<Job> {
  readonly operation: Operation
  readonly pairs: readonly Pair[]
  readonly jobs: readonly Job[]
}

export interface WriteLimits {
  readonly idsPerCall: number
  /** Calls of one operation that may belong together: a disk that needs several waits for all of them. */
  readonly callsAtOnce: Readonly<Record<Operation, number>>
}

/** Ordering and counting grow with the number of distinct writes; the oldest this many are looked at. */
const groupsLookedAt = 1000

/**
 * Chooses what leaves with the leading group: itself alone, or together with groups that are like it, where sending
 * shared tags once for all of them costs fewer calls. `groups` are in order of age and hold the leading one.
 */
export function chooseWrites<Job>(
  groups: Iterable<WriteGroup<Job>>,
  leading: WriteGroup<Job>,
  limits: WriteLimits,
): readonly WriteCall<Job>[] {
  const alone = cheapestCalls([{ ...leading, jobs: leading.jobs.slice(0, limits.idsPerCall) }], limits.idsPerCall)
  let window = alike(groups, leading, limits.idsPerCall)
  while (window.length > 1) {
    const calls = cheapestCalls(window, limits.idsPerCall)
    if (calls.length < apart(window) && fits(calls, limits)) return calls
    window = window.slice(0, Math.floor(window.length / 2))
  }
  return alone
}

/**
 * The cheapest of three ways, and of what lies between: a call for each distinct write; a call for each tag; or the tags
 * that many writes share first and then what remains, by equal remainders. Of equals the one that needs the fewest
 * calls for a disk.
 */
export function cheapestCalls<Job>(groups: readonly WriteGroup<Job>[], idsPerCall: number): readonly WriteCall<Job>[] {
  return operations.flatMap((operation) => {
    const concerned = groups.filter(({ write }) => write[operation].length > 0)
    if (concerned.length === 0) return []
    const occurrences = countPairs(concerned, operation)
    let best = callsWhereShared(concerned, operation, () => false)
    for (let atLeast = concerned.length; atLeast >= 1; atLeast = Math.floor(atLeast / 2)) {
      const calls = callsWhereShared(concerned, operation, (pair) => (occurrences.get(pairName(pair)) ?? 0) >= atLeast)
      if (countCalls(calls, idsPerCall) < countCalls(best, idsPerCall)) best = calls
    }
    return best.flatMap((call) => inChunks(call, idsPerCall))
  })
}

function callsWhereShared<Job>(
  groups: readonly WriteGroup<Job>[],
  operation: Operation,
  isShared: (pair: Pair) => boolean,
): WriteCall<Job>[] {
  const membersByPair = new Map<string, { readonly pair: Pair; readonly members: number[] }>()
  const remainders = new Map<string, { readonly pairs: readonly Pair[]; readonly members: number[] }>()
  groups.forEach(({ write }, index) => {
    const remainder: Pair[] = []
    for (const pair of write[operation]) {
      if (isShared(pair)) appendMember(membersByPair, pairName(pair), { pair, members: [] }, index)
      else remainder.push(pair)
    }
    if (remainder.length > 0) {
      appendMember(remainders, writeName(remainder), { pairs: remainder, members: [] }, index)
    }
  })
  // Tags that always come together travel together.
  const bundles = new Map<string, { readonly pairs: Pair[]; readonly members: number[] }>()
  for (const { pair, members } of membersByPair.values()) {
    const name = members.join()
    const bundle = bundles.get(name) ?? { pairs: [], members }
    bundle.pairs.push(pair)
    bundles.set(name, bundle)
  }
  return [...bundles.values(), ...remainders.values()].map(({ pairs, members }) => ({
    operation,
    pairs,
    jobs: members.flatMap((index) => groups[index]?.jobs ?? []),
  }))
}

function appendMember<Entry extends { readonly members: number[] }>(
  entries: Map<string, Entry>,
  name: string,
  fresh: Entry,
  index: number,
): void {
  const entry = entries.get(name) ?? fresh
  entry.members.push(index)
  entries.set(name, entry)
}

/**
 * The leading group, then those whose writes resemble it most, as far as one call's ids go. Resemblance: pairs in order
 * of how common they are, most common first, then by name; neighbours in that order share long beginnings.
 */
function alike<Job>(
  groups: Iterable<WriteGroup<Job>>,
  leading: WriteGroup<Job>,
  idsPerCall: number,
): WriteGroup<Job>[] {
  const candidates = oldest(groups)
  if (!candidates.includes(leading)) candidates.push(leading)
  const common = { set: countPairs(candidates, 'set'), remove: countPairs(candidates, 'remove') }
  if (needsOwnCalls(leading.write, common)) return [leading]
  const named = candidates
    .filter(({ write }) => !needsOwnCalls(write, common))
    .map((group) => ({ group, name: likenessName(group.write, common) }))
  named.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
  const start = named.findIndex(({ group }) => group === leading)
  const window: WriteGroup<Job>[] = []
  let ids = 0
  for (const { group } of [...named.slice(start), ...named.slice(0, start)]) {
    ids += group.jobs.length
    if (ids > idsPerCall) break
    window.push(group)
  }
  return window
}

function oldest<Job>(groups: Iterable<WriteGroup<Job>>): WriteGroup<Job>[] {
  const found: WriteGroup<Job>[] = []
  for (const group of groups) {
    if (found.length >= groupsLookedAt) break
    found.push(group)
  }
  return found
}

type PairCounts = Readonly<Record<Operation, ReadonlyMap<string, number>>>

/** A tag that no other write has needs a call of its own, which can carry all the rest: company would save nothing. */
function needsOwnCalls(write: Write, common: PairCounts): boolean {
  return operations.every(
    (operation) =>
      write[operation].length === 0 || write[operation].some((pair) => common[operation].get(pairName(pair)) === 1),
  )
}

function likenessName(write: Write, common: PairCounts): string {
  return operations
    .map((operation) => {
      const names = write[operation].map(pairName)
      const count = (name: string) => common[operation].get(name) ?? 0
      return names.sort((a, b) => count(b) - count(a) || (a < b ? -1 : 1)).join('\u0001')
    })
    .join('\u0002')
}

function countPairs(groups: readonly WriteGroup<unknown>[], operation: Operation): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { write } of groups) {
    for (const pair of write[operation]) counts.set(pairName(pair), (counts.get(pairName(pair)) ?? 0) + 1)
  }
  return counts
}

/** Calls, if each of these groups went by itself. */
function apart(groups: readonly WriteGroup<unknown>[]): number {
  return groups.reduce((sum, { write }) => sum + Number(write.set.length > 0) + Number(write.remove.length > 0), 0)
}

function fits(calls: readonly WriteCall<unknown>[], { callsAtOnce }: WriteLimits): boolean {
  const sets = calls.filter(({ operation }) => operation === 'set').length
  return sets <= callsAtOnce.set && calls.length - sets <= callsAtOnce.remove
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

/** Equal for equal lists of pairs. A NUL cannot occur in a tag. */
export function writeName(pairs: readonly Pair[]): string {
  return pairs.map(pairName).join('\0\0')
}

function pairName([key, value]: Pair): string {
  return `${key}\0${value}`
}
