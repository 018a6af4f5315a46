import type { ObservedTags } from '../provider.ts'
import type { DiskPage, DiskQuery, ListedDisk } from './compute-api.ts'

/** How one zone or region of one project is read; each method makes one call, when the budget lets it. */
export interface FolderReader {
  list(query: DiskQuery): Promise<DiskPage>
  /** Undefined for a disk that is not there. */
  get(disk: string): Promise<ObservedTags | undefined>
}

/** By which a cluster's own disks are told from those of others, in Google's and in OpenShift's clusters. */
const clusterKeys: ReadonlySet<string> = new Set(['goog-k8s-cluster-name', 'cluster-id-gke-io'])
const clusterKeyPrefix = 'kubernetes-io-cluster-'
const plainText = /^[a-z0-9_-]+$/

/**
 * Finds these disks among all that a zone or region holds, in few calls and holding one page at a time. Disks that are
 * not there are left out.
 *
 * A page has 500 disks; where most of them are somebody else's, the pages after the first are asked for by the label
 * that our own disks bear. As soon as fewer disks are missing than pages were read, those are asked for by name: however
 * the disks lie, this makes at most twice the calls of the best way.
 */
export async function* sweepFolder(
  names: Iterable<string>,
  reader: FolderReader,
): AsyncGenerator<readonly [name: string, observed: ObservedTags]> {
  const missing = new Set(names)
  const route = new Route()
  for (let pages = 0; missing.size > Math.max(1, pages); pages++) {
    const page = await reader.list(route.query)
    const own = page.disks.filter(({ name }) => missing.delete(name))
    for (const { name, observed } of own) yield [name, observed]
    if (!route.follow(page, own)) return
  }
  for (const name of missing) {
    const observed = await reader.get(name)
    if (observed !== undefined) yield [name, observed]
  }
}

/** Which page comes next. */
class Route {
  #query: DiskQuery = {}
  /** Where the pages of all disks go on after those with our label. */
  #goOnWith: DiskQuery | undefined

  get query(): DiskQuery {
    return this.#query
  }

  /** False where every disk was seen. */
  follow(page: DiskPage, own: readonly ListedDisk[]): boolean {
    const { nextToken } = page
    const ahead = nextToken === undefined ? undefined : { filter: this.#query.filter, pageToken: nextToken }
    if (this.#query.filter !== undefined) {
      this.#query = ahead ?? this.#goOnWith ?? {}
      return true
    }
    if (ahead === undefined) return false
    const filter = this.#goOnWith === undefined ? tellingFilter(page.disks, own) : undefined
    if (filter === undefined) {
      this.#query = ahead
    } else {
      this.#goOnWith = ahead
      this.#query = { filter }
    }
    return true
  }
}

/** A filter that most of our disks pass and most of the others do not; undefined where there is none. */
function tellingFilter(all: readonly ListedDisk[], own: readonly ListedDisk[]): string | undefined {
  const [label, holders] = [...countClusterLabels(own)].toSorted(([, a], [, b]) => b - a)[0] ?? ['', 0]
  if (holders === 0 || holders < own.length / 2) return undefined
  const passing = countClusterLabels(all).get(label) ?? 0
  return passing > all.length / 2 ? undefined : label
}

function countClusterLabels(disks: readonly ListedDisk[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { observed } of disks) {
    for (const [key, value] of observed.tags) {
      if (!clusterKeys.has(key) && !key.startsWith(clusterKeyPrefix)) continue
      if (!plainText.test(key) || !plainText.test(value)) continue
      const filter = `labels.${key}=${value}`
      counts.set(filter, (counts.get(filter) ?? 0) + 1)
    }
  }
  return counts
}
