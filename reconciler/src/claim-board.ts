import type { ClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Outcome } from '@k8s-cloud-tagger/shared/tagger/outcome.ts'

export type ClaimState = 'tagged' | 'pending' | 'skipped' | 'failed' | 'reported'

/** Every claim's last known state, and how many there are of each: what the gauge `claims` shows. */
export class ClaimBoard {
  /** `state|reason`, one string a claim, shared by all that are alike. */
  readonly #states = new Map<ClaimKey, string>()
  readonly #counts = new Map<string, number>()
  /** Claims that wait for their tags, in the order in which they began to: since when, in monotonic milliseconds. */
  readonly #waitingSinceMs = new Map<ClaimKey, number>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  passed(key: ClaimKey, outcome: Outcome): void {
    const state = stateOf(outcome)
    if (state === undefined) return
    this.#set(key, state)
    if (!isWaiting(state)) this.#waitingSinceMs.delete(key)
    else if (!this.#waitingSinceMs.has(key)) this.#waitingSinceMs.set(key, this.#clock.monotonicMs())
  }

  /** How long the claim that has waited longest for its tags has waited, in milliseconds; 0 where none does. */
  get oldestWaitMs(): number {
    const [oldestMs] = this.#waitingSinceMs.values()
    return oldestMs === undefined ? 0 : this.#clock.monotonicMs() - oldestMs
  }

  gone(key: ClaimKey): void {
    this.#waitingSinceMs.delete(key)
    this.#set(key, undefined)
  }

  /** What was seen in a term that is over is for the next leader to show. */
  clear(): void {
    this.#states.clear()
    this.#waitingSinceMs.clear()
    for (const name of this.#counts.keys()) this.#counts.set(name, 0)
  }

  *counts(): Iterable<{ readonly state: ClaimState; readonly reason: string; readonly count: number }> {
    for (const [name, count] of this.#counts) {
      const [state, reason] = name.split('|') as [ClaimState, string]
      yield { state, reason, count }
    }
  }

  #set(key: ClaimKey, state: string | undefined): void {
    const previous = this.#states.get(key)
    if (previous === state) return
    if (previous !== undefined) this.#counts.set(previous, (this.#counts.get(previous) ?? 0) - 1)
    if (state === undefined) this.#states.delete(key)
    else {
      this.#states.set(key, state)
      this.#counts.set(state, (this.#counts.get(state) ?? 0) + 1)
    }
  }
}

/** A claim that nobody has bound waits for its pod, not for us. */
function isWaiting(state: string): boolean {
  return state !== 'pending|claim-unbound' && (state.startsWith('pending|') || state.startsWith('failed|'))
}

/** Undefined where the pass says nothing new about the claim. */
function stateOf(outcome: Outcome): string | undefined {
  switch (outcome.kind) {
    case 'tagged':
    case 'in-sync':
      return 'tagged|'
    case 'reported':
      return 'reported|'
    case 'pending':
      return `pending|${outcome.reason}`
    case 'skipped':
      return outcome.reason === 'claim-gone' ? undefined : `skipped|${outcome.reason}`
    case 'cloud-failure':
      return `failed|cloud-${outcome.reason}`
    case 'cluster-failure':
      return `failed|kubernetes-${outcome.reason}`
    case 'busy':
      return 'pending|another-process'
    case 'stale':
    case 'stopped':
      return undefined
    default:
      return outcome satisfies never
  }
}
