import type { ClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { Outcome } from '@k8s-cloud-tagger/shared/tagger/outcome.ts'

export type ClaimState = 'tagged' | 'pending' | 'skipped' | 'failed' | 'reported'

/** Every claim's last known state, and how many there are of each: what the gauge `claims` shows. */
export class ClaimBoard {
  /** `state|reason`, one string a claim, shared by all that are alike. */
  readonly #states = new Map<ClaimKey, string>()
  readonly #counts = new Map<string, number>()

  passed(key: ClaimKey, outcome: Outcome): void {
    const state = stateOf(outcome)
    if (state !== undefined) this.#set(key, state)
  }

  gone(key: ClaimKey): void {
    this.#set(key, undefined)
  }

  /** What was seen in a term that is over is for the next leader to show. */
  clear(): void {
    this.#states.clear()
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
