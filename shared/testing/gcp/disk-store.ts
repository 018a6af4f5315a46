import { createHash } from 'node:crypto'
import type { Clock } from '../../src/runtime/clock.ts'

export interface DiskOptions {
  readonly labels?: Readonly<Record<string, string>> | ReadonlyMap<string, string>
  /** The disk is not found by anybody until this many milliseconds have passed. */
  readonly visibleAfterMs?: number
}

export interface Disk {
  /** `projects/p/zones/z/disks/d`. */
  readonly id: string
  readonly parent: string
  readonly name: string
  readonly number: number
  readonly visibleFromMs: number
  /** Replaced, never changed in place: a reader may hold it. */
  labels: ReadonlyMap<string, string>
  fingerprint: string
  /** Wall time of the last change. */
  changedAtMs: number
  /** Monotonic time at which the operation that changes it will be done. */
  busyUntilMs: number
}

/** What Compute Engine gives to everything without labels. */
const fingerprintOfNothing = '42WmSpB8rSM='

const idPattern = /^(projects\/[^/]+\/(?:zones|regions)\/[^/]+)\/disks\/([^/]+)$/

interface Folder {
  readonly byName: Map<string, Disk>
  /** Names in order; undefined where it has to be made anew. */
  names: readonly string[] | undefined
}

/** All disks, by zone or region, in order of their names as Compute Engine lists them. */
export class DiskStore {
  readonly #clock: Clock
  readonly #folders = new Map<string, Folder>()
  #numbers = 0
  #changes = 0
  /** Whether a disk exists from the moment that somebody asks for it. */
  adoptsUnknown = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    let sum = 0
    for (const { byName } of this.#folders.values()) sum += byName.size
    return sum
  }

  /** `projects/p/zones/z` and the like, in order. */
  parents(project: string): readonly string[] {
    return [...this.#folders.keys()].filter((parent) => parent.startsWith(`projects/${project}/`)).toSorted()
  }

  add(id: string, options: DiskOptions = {}): Disk {
    const [, parent, name] = idPattern.exec(id) ?? []
    if (parent === undefined || name === undefined) throw new Error(`${id} is not the id of a Google disk`)
    const labels = new Map(options.labels instanceof Map ? options.labels : Object.entries(options.labels ?? {}))
    const disk: Disk = {
      id,
      parent,
      name,
      number: ++this.#numbers,
      visibleFromMs: this.#clock.monotonicMs() + (options.visibleAfterMs ?? 0),
      labels,
      fingerprint: this.#fingerprintOf(labels),
      changedAtMs: this.#clock.wallMs(),
      busyUntilMs: 0,
    }
    const folder = this.#folders.get(parent) ?? { byName: new Map<string, Disk>(), names: undefined }
    if (!folder.byName.has(name)) folder.names = undefined
    folder.byName.set(name, disk)
    this.#folders.set(parent, folder)
    return disk
  }

  remove(id: string): void {
    const [, parent = '', name = ''] = idPattern.exec(id) ?? []
    const folder = this.#folders.get(parent)
    if (folder?.byName.delete(name) === true) folder.names = undefined
  }

  get(id: string): Disk | undefined {
    const [, parent = '', name = ''] = idPattern.exec(id) ?? []
    return this.#folders.get(parent)?.byName.get(name)
  }

  /** Undefined also for a disk that is too young to be seen. */
  visible(id: string): Disk | undefined {
    const disk = this.get(id) ?? (this.adoptsUnknown ? this.add(id) : undefined)
    return disk !== undefined && disk.visibleFromMs <= this.#clock.monotonicMs() ? disk : undefined
  }

  /** The visible disks of a zone or region whose names come after this one, in order. */
  *after(parent: string, name: string): Iterable<Disk> {
    const folder = this.#folders.get(parent)
    if (folder === undefined) return
    folder.names ??= [...folder.byName.keys()].toSorted()
    const nowMs = this.#clock.monotonicMs()
    for (let i = firstAfter(folder.names, name); i < folder.names.length; i++) {
      const disk = folder.byName.get(folder.names[i] ?? '')
      if (disk !== undefined && disk.visibleFromMs <= nowMs) yield disk
    }
  }

  write(disk: Disk, labels: ReadonlyMap<string, string>): void {
    this.#changes++
    disk.labels = labels
    disk.fingerprint = this.#fingerprintOf(labels)
    disk.changedAtMs = this.#clock.wallMs()
  }

  /** A new one for every change, also for one back to an earlier state. */
  #fingerprintOf(labels: ReadonlyMap<string, string>): string {
    if (labels.size === 0 && this.#changes === 0) return fingerprintOfNothing
    return createHash('sha1').update(`${this.#numbers} ${this.#changes}`).digest().subarray(0, 8).toString('base64')
  }
}

function firstAfter(names: readonly string[], name: string): number {
  let low = 0
  let high = names.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((names[middle] ?? '') <= name) low = middle + 1
    else high = middle
  }
  return low
}
