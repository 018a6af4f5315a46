import { setTimeout as sleep } from 'node:timers/promises'
import type { Product } from '../src/product.ts'
import type { BenchCloud } from './clouds/bench-cloud.ts'
import type { TaggedPair } from './stage.ts'

type Tags = Readonly<Record<string, string>>

function carries(cloud: BenchCloud, disk: string, wish: Tags): boolean {
  const tags = cloud.tagsOf(disk)
  return Object.entries(wish).every(([key, value]) => tags[key] === value)
}

/** Resolves to the wall time at which the write took effect; rejects after the limit. */
export async function taggedAt(
  cloud: BenchCloud,
  disk: string,
  wish: Tags,
  { withinMs = 30_000 }: { readonly withinMs?: number } = {},
): Promise<number> {
  const untilMs = performance.now() + withinMs
  while (!carries(cloud, disk, wish)) {
    if (performance.now() > untilMs) throw new Error(`${disk} did not get ${JSON.stringify(wish)} in ${withinMs} ms`)
    await sleep(3)
  }
  return cloud.changedAtMs(disk)
}

export interface Progress {
  readonly tagged: number
  /** Wall time of the last of them. */
  readonly lastAtMs: number
  /** Disks a second in the second half of the time. */
  readonly lateRate: number
}

/** Resolves when all carry their tags, or at the limit with what was reached. */
export async function allTagged(
  cloud: BenchCloud,
  pairs: readonly TaggedPair[],
  { withinMs, log }: { readonly withinMs: number; readonly log: (line: string) => void },
): Promise<Progress> {
  const startMs = performance.now()
  const seen: { readonly atMs: number; readonly tagged: number }[] = []
  let left = pairs
  let toldMs = startMs
  let lastAtMs = 0
  while (left.length > 0 && performance.now() - startMs < withinMs) {
    await sleep(50)
    const still: TaggedPair[] = []
    for (const pair of left) {
      if (!carries(cloud, pair.disk, pair.labels)) still.push(pair)
      else lastAtMs = Math.max(lastAtMs, cloud.changedAtMs(pair.disk))
    }
    left = still
    seen.push({ atMs: performance.now(), tagged: pairs.length - left.length })
    if (performance.now() - toldMs > 15_000) {
      toldMs = performance.now()
      log(`  ${pairs.length - left.length} of ${pairs.length} tagged; ${cloud.describeCalls()}`)
    }
  }
  return { tagged: pairs.length - left.length, lastAtMs, lateRate: lateRateOf(seen) }
}

function lateRateOf(seen: readonly { readonly atMs: number; readonly tagged: number }[]): number {
  const middle = seen[seen.length >> 1]
  const last = seen.at(-1)
  if (middle === undefined || last === undefined || last.atMs === middle.atMs) return 0
  return ((last.tagged - middle.tagged) / (last.atMs - middle.atMs)) * 1000
}

/** Nothing waits and nothing is at work, and the cloud heard nothing for a moment. */
export async function untilQuiet(
  product: Product,
  cloud: BenchCloud,
  { withinMs = 60_000 }: { readonly withinMs?: number } = {},
): Promise<void> {
  const untilMs = performance.now() + withinMs
  let calls = -1
  for (let quiet = 0; quiet < 6;) {
    await sleep(200)
    const depths = await Promise.all(product.programs.map((program) => product.metric(program, 'queue_depth')))
    const heard = cloud.tally().calls
    quiet = heard !== calls || depths.some((depth) => depth > 0) ? 0 : quiet + 1
    calls = heard
    if (performance.now() > untilMs)
      throw new Error(`Not quiet after ${withinMs} ms: queue depths ${depths.join(', ')}`)
  }
}
