import type { Clock } from '../../src/runtime/clock.ts'

export type QuotaGroup = 'read' | 'list' | 'mutation'

/** Calls a project may make in one minute of the wall clock, all its callers together. */
export const quotaPerMinute: Readonly<Record<QuotaGroup, number>> = { read: 1500, list: 1500, mutation: 1500 }

/** Compute Engine counts by project and by synchronised minute: what is not used by its end is lost. */
export class MinuteQuota {
  readonly #clock: Clock
  readonly #limits: Readonly<Record<QuotaGroup, number>>
  #minute = Number.NaN
  #used = new Map<string, number>()

  constructor(clock: Clock, limits: Readonly<Record<QuotaGroup, number>> = quotaPerMinute) {
    this.#clock = clock
    this.#limits = limits
  }

  /** False where the minute's calls are used up. Refused calls cost nothing. */
  take(project: string, group: QuotaGroup): boolean {
    const minute = Math.floor(this.#clock.wallMs() / 60_000)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#used = new Map()
    }
    const name = `${project} ${group}`
    const used = this.#used.get(name) ?? 0
    if (used >= this.#limits[group]) return false
    this.#used.set(name, used + 1)
    return true
  }
}

export function quotaGroupOf(operation: string): QuotaGroup {
  if (operation.endsWith('.setLabels')) return 'mutation'
  return /list$/i.test(operation) ? 'list' : 'read'
}
