import type { Clock } from '../../src/runtime/clock.ts'
import { foldedName } from './tag-rules.ts'

export type DiskTags = ReadonlyMap<string, string>

export interface DiskOptions {
  readonly tags?: Readonly<Record<string, string>>
  /** The disk is not found by any call until this many milliseconds have passed. */
  readonly visibleAfterMs?: number
}

export interface Disk {
  /** As it was written when the disk was added. */
  readonly id: string
  readonly subscription: string
  readonly group: string
  readonly addedAtMs: number
  readonly visibleFromMs: number
  /** Replaced, never changed in place. */
  tags: DiskTags
  /** Wall time of the last change. */
  changedAtMs: number
  /** What lagging reads still see, oldest first; each was true until its `untilMs`. */
  past: { readonly untilMs: number; readonly tags: DiskTags }[]
}

const diskId =
  /^\/subscriptions\/([0-9a-f-]{36})\/resourceGroups\/([^/]{1,90})\/providers\/Microsoft\.Compute\/disks\/([^/]{1,80})$/i

/** How long the past is kept, which is also how far a read can lag. */
export const lagMsMax = 3_600_000

/** The disks of every subscription, found in whatever case their ids are written. */
export class DiskStore {
  readonly #clock: Clock
  readonly #byId = new Map<string, Disk>()
  /** Whether a well-formed id that was never added exists all the same. */
  adoptsUnknown = false
  /** How far a read of a disk, and what a Merge or Delete is worked out from, lag behind the truth. */
  readLagMs = 0
  /** How far Resource Graph lags behind the truth. */
  graphLagMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#byId.size
  }

  add(id: string, options: DiskOptions = {}): Disk {
    const [, subscription, group] = diskId.exec(id) ?? []
    if (subscription === undefined || group === undefined) throw new Error(`${id} is not the id of a disk`)
    const nowMs = this.#clock.monotonicMs()
    const disk: Disk = {
      id,
      subscription: subscription.toLowerCase(),
      group: group.toLowerCase(),
      addedAtMs: nowMs,
      visibleFromMs: nowMs + (options.visibleAfterMs ?? 0),
      tags: new Map(Object.entries(options.tags ?? {})),
      changedAtMs: this.#clock.wallMs(),
      past: [],
    }
    this.#byId.set(id.toLowerCase(), disk)
    return disk
  }

  remove(id: string): void {
    this.#byId.delete(id.toLowerCase())
  }

  get(id: string): Disk | undefined {
    return this.#byId.get(id.toLowerCase())
  }

  /** As a call finds it: undefined also where the disk is too young to be seen. */
  visible(id: string): Disk | undefined {
    const disk = this.get(id) ?? (this.adoptsUnknown && diskId.test(id) ? this.add(id) : undefined)
    return disk !== undefined && disk.visibleFromMs <= this.#clock.monotonicMs() ? disk : undefined
  }

  all(): Iterable<Disk> {
    return this.#byId.values()
  }

  /** The tags as ARM shows them now. */
  readTags(disk: Disk): DiskTags {
    return this.#tagsSince(disk, this.#clock.monotonicMs() - this.readLagMs)
  }

  /** The tags as Resource Graph shows them now; undefined where it does not know the disk yet. */
  graphTags(disk: Disk): DiskTags | undefined {
    const asOfMs = this.#clock.monotonicMs() - this.graphLagMs
    return this.graphLagMs > 0 && disk.addedAtMs > asOfMs ? undefined : this.#tagsSince(disk, asOfMs)
  }

  write(disk: Disk, tags: DiskTags): void {
    const nowMs = this.#clock.monotonicMs()
    if (this.readLagMs > 0 || this.graphLagMs > 0) disk.past.push({ untilMs: nowMs, tags: disk.tags })
    disk.past = disk.past.filter(({ untilMs }) => untilMs > nowMs - lagMsMax)
    disk.tags = tags
    disk.changedAtMs = this.#clock.wallMs()
  }

  #tagsSince({ past, tags }: Disk, asOfMs: number): DiskTags {
    return past.find(({ untilMs }) => untilMs > asOfMs)?.tags ?? tags
  }
}

/** The tag that this name means, in whatever case it stands on the disk. */
export function spellingOf(tags: DiskTags, name: string): string | undefined {
  const folded = foldedName(name)
  return [...tags.keys()].find((other) => foldedName(other) === folded)
}
