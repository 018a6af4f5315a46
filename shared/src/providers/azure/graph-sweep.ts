import { azureDiskIdOf, azureDiskNameOf } from '../../claims/azure-disk.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { AccountBudget } from '../account-budget.ts'
import { giveUpAfterMs, noTurn, notSent } from '../batch-queue.ts'
import type { CallOptions, ObservedTags } from '../provider.ts'
import { ProviderError } from '../provider-error.ts'
import type { SlowLane } from '../slow-lane.ts'
import type { GraphPage } from './arm-api.ts'
import { graphOperation, type QueryGraph } from './arm-ports.ts'
import { isPageTooLarge } from './errors.ts'

export interface GraphSweepDeps {
  readonly clock: Clock
  readonly budget: AccountBudget
  readonly slowLane: SlowLane
  readonly query: QueryGraph
}

type Found = readonly [disk: string, observed: ObservedTags]

/** The most that Resource Graph gives at once. */
const rowsPerPage = 1000
/** A query's length has a limit that nobody states; a hundred ids are some 20 KB. */
const idsPerQuery = 100

/**
 * Bulk reads by Azure Resource Graph, whose answers lag behind the truth. A resource group with many of our disks is read
 * whole, a thousand disks a call; where only few of a group's disks are ours, or where the first page shows that most are
 * not, those few are asked for by id.
 */
export class GraphSweep {
  readonly #deps: GraphSweepDeps
  readonly #stopping = new AbortController()
  #underWay = 0

  constructor(deps: GraphSweepDeps) {
    this.#deps = deps
  }

  /** See `DiskProvider.listTags`. One call at a time: a sweep is in no hurry. */
  async *list(disks: Iterable<string>, options: CallOptions): AsyncGenerator<Found> {
    const { slowLane } = this.#deps
    const admission = slowLane.admit(graphOperation)
    if (admission instanceof ProviderError) throw admission
    const signal = AbortSignal.any([options.signal, this.#stopping.signal])
    this.#underWay += 1
    try {
      for (const [subscription, groups] of bySubscription(disks)) {
        const reader = new SubscriptionReader(subscription, (rowsMax, query) =>
          this.#page(rowsMax, query, { ...options, signal }),
        )
        yield* reader.read(groups)
      }
    } finally {
      this.#underWay -= 1
      slowLane.probeEnded(graphOperation)
    }
  }

  get sweepsUnderWay(): number {
    return this.#underWay
  }

  stop(): void {
    this.#stopping.abort()
  }

  async #page(rowsMax: number, query: PageQuery, { lane, signal }: CallOptions): Promise<GraphPage> {
    const { budget, clock } = this.#deps
    const untilMs = clock.monotonicMs() + giveUpAfterMs[lane]
    if (await budget.take(graphOperation, { lane, signal, untilMs })) return this.#deps.query({ ...query, rowsMax })
    throw signal.aborted ? notSent('the caller gave it up, or the provider is stopping') : noTurn(budget)
  }
}

interface PageQuery {
  readonly subscription: string
  readonly query: string
  readonly skipToken?: string
}

type FetchPage = (rowsMax: number, query: PageQuery) => Promise<GraphPage>

class SubscriptionReader {
  readonly #subscription: string
  readonly #fetch: FetchPage
  #rowsMax = rowsPerPage

  constructor(subscription: string, fetch: FetchPage) {
    this.#subscription = subscription
    this.#fetch = fetch
  }

  async *read(groups: ReadonlyMap<string, Set<string>>): AsyncGenerator<Found> {
    const few: string[] = []
    for (const [group, wanted] of groups) {
      if (wanted.size > idsPerQuery) yield* this.#readGroup(group, wanted)
      few.push(...wanted)
    }
    for (let at = 0; at < few.length; at += idsPerQuery) {
      const wanted = new Set(few.slice(at, at + idsPerQuery))
      for await (const page of this.#pages(`id in~ (${[...wanted].map(quoted).join(', ')})`)) yield* take(page, wanted)
    }
  }

  /** Leaves in `wanted` what is cheaper to ask for by id; nothing where the group was read to its end. */
  async *#readGroup(group: string, wanted: Set<string>): AsyncGenerator<Found> {
    let rows = 0
    for await (const page of this.#pages(`resourceGroup =~ ${quoted(group)}`)) {
      rows += page.rows.length
      yield* take(page, wanted)
      const pagesLeft = Math.ceil((page.total - rows) / this.#rowsMax)
      if (pagesLeft > Math.ceil(wanted.size / idsPerQuery)) return
    }
    wanted.clear()
  }

  async *#pages(condition: string): AsyncGenerator<GraphPage> {
    const query = `resources | where type =~ 'microsoft.compute/disks' | where ${condition} | project id, tags | order by id asc`
    let skipToken: string | undefined
    do {
      const page = await this.#page({
        subscription: this.#subscription,
        query,
        ...(skipToken !== undefined && { skipToken }),
      })
      yield page
      skipToken = page.skipToken
    } while (skipToken !== undefined)
  }

  /** Disks with many long tags may not fit a page of a thousand. */
  async #page(query: PageQuery): Promise<GraphPage> {
    for (;;) {
      try {
        return await this.#fetch(this.#rowsMax, query)
      } catch (error) {
        if (!(error instanceof ProviderError) || !isPageTooLarge(error) || this.#rowsMax === 1) throw error
        this.#rowsMax = Math.ceil(this.#rowsMax / 4)
      }
    }
  }
}

/** Those rows that are wanted, each once: a disk may move between pages while they are read. */
function* take(page: GraphPage, wanted: Set<string>): Generator<Found> {
  for (const { id, tags } of page.rows) {
    const disk = azureDiskIdOf(id)
    if (disk !== undefined && wanted.delete(disk)) yield [disk, { tags }]
  }
}

function bySubscription(disks: Iterable<string>): Map<string, Map<string, Set<string>>> {
  const subscriptions = new Map<string, Map<string, Set<string>>>()
  for (const disk of disks) {
    const name = azureDiskNameOf(disk)
    if (name === undefined) continue
    const groups = subscriptions.get(name.subscription) ?? new Map<string, Set<string>>()
    const ids = groups.get(name.resourceGroup) ?? new Set()
    subscriptions.set(name.subscription, groups.set(name.resourceGroup, ids.add(disk)))
  }
  return subscriptions
}

/** The alphabet of ids has neither quote nor backslash; this keeps it true whoever calls. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, String.raw`\$&`)}'`
}
