import type { Clock } from '../../src/runtime/clock.ts'

export interface VolumeOptions {
  readonly tags?: Readonly<Record<string, string>> | ReadonlyMap<string, string>
  /** Operated by a service (EKS Auto Mode): hidden from DescribeVolumes unless `IncludeManagedResources` is true. */
  readonly managed?: boolean
  /** The volume is NotFound for every call until this many milliseconds have passed. */
  readonly visibleAfterMs?: number
  /** Reads show no tags until this many milliseconds have passed. */
  readonly tagsVisibleAfterMs?: number
}

export interface Volume {
  readonly id: string
  /** Grows with every volume; what a NextToken points at. */
  readonly sequence: number
  readonly managed: boolean
  readonly visibleFromMs: number
  /** Replaced, never changed in place: a reader may hold it while it streams. */
  tags: ReadonlyMap<string, string>
  /** Wall time of the last change. */
  changedAtMs: number
  /** It stays in its place until the next compaction, so that positions found by sequence hold. */
  removed: boolean
  /** What lagging reads still see, oldest first; `untilMs` is when reads stop seeing it. */
  past: { readonly untilMs: number; readonly tags: ReadonlyMap<string, string> }[]
}

/** Old ids have 8 and new ones 17 hexadecimal digits; tests use short ones. */
export function isVolumeId(id: string): boolean {
  return /^vol-[0-9a-z]+$/.test(id)
}

const noTags: ReadonlyMap<string, string> = new Map()

/** The volumes of one account and region: found by id at once, walked in order of creation for paging. */
export class VolumeStore {
  readonly #clock: Clock
  readonly #byId = new Map<string, Volume>()
  /** Ascending by sequence, removed ones included. */
  #ordered: Volume[] = []
  #removedCount = 0
  #sequence = 0
  /** How far every read lags behind writes. */
  readLagMs = 0
  /** For how long a volume that is added from now on is NotFound. */
  youngVolumeMs = 0
  /** Whether a well-formed id that was never added exists all the same. */
  adoptsUnknown = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#byId.size
  }

  add(id: string, options: VolumeOptions = {}): Volume {
    this.remove(id)
    const nowMs = this.#clock.monotonicMs()
    const tagsHiddenMs = options.tagsVisibleAfterMs ?? 0
    const volume: Volume = {
      id,
      sequence: ++this.#sequence,
      managed: options.managed ?? false,
      visibleFromMs: nowMs + (options.visibleAfterMs ?? this.youngVolumeMs),
      tags: toMap(options.tags),
      changedAtMs: this.#clock.wallMs(),
      removed: false,
      past: tagsHiddenMs > 0 ? [{ untilMs: nowMs + tagsHiddenMs, tags: noTags }] : [],
    }
    this.#byId.set(id, volume)
    this.#ordered.push(volume)
    return volume
  }

  remove(id: string): void {
    const volume = this.#byId.get(id)
    if (volume === undefined) return
    this.#byId.delete(id)
    volume.removed = true
    this.#removedCount++
    if (this.#removedCount > 1000 && this.#removedCount * 2 > this.#ordered.length) this.#compact()
  }

  /** Undefined also for a volume that is too young to be seen. */
  visible(id: string): Volume | undefined {
    const volume = this.#byId.get(id) ?? (this.adoptsUnknown && isVolumeId(id) ? this.add(id) : undefined)
    return volume !== undefined && volume.visibleFromMs <= this.#clock.monotonicMs() ? volume : undefined
  }

  get(id: string): Volume | undefined {
    return this.#byId.get(id)
  }

  /** All visible volumes with a sequence above this one, in order. */
  *after(sequence: number): Iterable<Volume> {
    const ordered = this.#ordered
    const nowMs = this.#clock.monotonicMs()
    for (let i = this.#indexAfter(sequence); i < ordered.length; i++) {
      const volume = ordered[i]
      if (volume !== undefined && !volume.removed && volume.visibleFromMs <= nowMs) yield volume
    }
  }

  /** The tags as a read sees them now, which may be behind the truth. */
  readTags(volume: Volume): ReadonlyMap<string, string> {
    if (volume.past.length === 0) return volume.tags
    const nowMs = this.#clock.monotonicMs()
    return volume.past.find(({ untilMs }) => untilMs > nowMs)?.tags ?? volume.tags
  }

  write(volume: Volume, tags: ReadonlyMap<string, string>): void {
    const nowMs = this.#clock.monotonicMs()
    volume.past = volume.past.filter(({ untilMs }) => untilMs > nowMs)
    if (this.readLagMs > 0) volume.past.push({ untilMs: nowMs + this.readLagMs, tags: volume.tags })
    volume.tags = tags
    volume.changedAtMs = this.#clock.wallMs()
  }

  #compact(): void {
    this.#ordered = this.#ordered.filter((volume) => !volume.removed)
    this.#removedCount = 0
  }

  #indexAfter(sequence: number): number {
    let low = 0
    let high = this.#ordered.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ordered[middle]?.sequence ?? Infinity) <= sequence) low = middle + 1
      else high = middle
    }
    return low
  }
}

function toMap(tags: VolumeOptions['tags']): ReadonlyMap<string, string> {
  if (tags === undefined) return noTags
  return new Map(tags instanceof Map ? tags : Object.entries(tags))
}
