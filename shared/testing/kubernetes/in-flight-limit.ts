import type { ApiRequest } from './api-request.ts'

/** Priority and fairness boiled down: a user with too many calls in flight is sent away. Open watches do not count. */
export class InFlightLimit {
  readonly #inFlight = new Map<string, number>()
  readonly #peaks = new Map<string, number>()
  readonly #maxByUser = new Map<string, number>()
  readonly #maxForAll: number
  #refused = 0

  constructor(maxForAll = Number.POSITIVE_INFINITY) {
    this.#maxForAll = maxForAll
  }

  setMax(user: string, max: number): void {
    this.#maxByUser.set(user, max)
  }

  get refused(): number {
    return this.#refused
  }

  /** The most calls that this user ever had in flight. */
  peakOf(user: string): number {
    return this.#peaks.get(user) ?? 0
  }

  /** Undefined when there is no room; otherwise to be called when the request is done. */
  enter({ user: { username }, verb }: ApiRequest): (() => void) | undefined {
    if (verb === 'watch') return () => {}
    const inFlight = this.#inFlight.get(username) ?? 0
    if (inFlight >= (this.#maxByUser.get(username) ?? this.#maxForAll)) {
      this.#refused++
      return undefined
    }
    this.#inFlight.set(username, inFlight + 1)
    this.#peaks.set(username, Math.max(this.peakOf(username), inFlight + 1))
    return () => void this.#inFlight.set(username, (this.#inFlight.get(username) ?? 1) - 1)
  }
}
