/** What can go wrong with a single call to any cloud; `faultTable` says what each does. */
export type CommonFault =
  | { readonly kind: 'throttle'; readonly retryAfterSeconds?: number }
  | { readonly kind: 'hang' }
  | { readonly kind: 'drop' }
  | { readonly kind: 'lost-answer'; readonly how?: 'drop' | 'hang' }
  | { readonly kind: 'late-write'; readonly landsAfterMs: number }
  | { readonly kind: 'slow'; readonly byMs: number }
  | { readonly kind: 'garbage'; readonly body?: string; readonly status?: number }

/** A kind of fault, and what becomes of the call that it hits. */
export type FaultTable<Kind extends string = string> = Readonly<Record<Kind, string>>

/** The common faults. Each fake adds how it throttles, and faults of its own. */
export const commonFaults = {
  hang: 'nothing done and no answer until `release()`, which lets the call go its ordinary way',
  drop: 'the connection is cut before anything was done',
  'lost-answer': "the write takes effect at once, then the connection is cut, or (`how: 'hang'`) kept silent",
  'late-write': 'checked now, silent at once, takes effect `landsAfterMs` later even if the client has gone',
  slow: 'answers rightly, `byMs` later than it would have',
  garbage: 'the call is done, the answer is 200 (or `status`) with something that cannot be read',
} as const satisfies FaultTable<Exclude<CommonFault['kind'], 'throttle'>>

export interface InjectedFault {
  /** How many calls it has hit so far. */
  readonly hits: number
  clear(): void
}

interface ScriptedFault<Fault, Scope> {
  readonly fault: Fault
  readonly scope: Scope
  left: number
  hits: number
}

/** Faults in the order they were injected: a call is hit by the first that matches and is not used up. */
export class FaultScript<Fault, Scope extends { readonly times?: number }, Call> {
  readonly #matches: (scope: Scope, call: Call) => boolean
  #faults: ScriptedFault<Fault, Scope>[] = []

  constructor(matches: (scope: Scope, call: Call) => boolean) {
    this.#matches = matches
  }

  /** For the next call that matches, the next `times`, or (`Infinity`) until cleared. */
  add(fault: Fault, scope: Scope): InjectedFault {
    const scripted: ScriptedFault<Fault, Scope> = { fault, scope, left: scope.times ?? 1, hits: 0 }
    this.#faults.push(scripted)
    return {
      get hits() {
        return scripted.hits
      },
      clear() {
        scripted.left = 0
      },
    }
  }

  take(call: Call): Fault | undefined {
    this.#faults = this.#faults.filter(({ left }) => left > 0)
    const hit = this.#faults.find(({ scope }) => this.#matches(scope, call))
    if (hit === undefined) return undefined
    hit.left--
    hit.hits++
    return hit.fault
  }

  clear(): void {
    for (const scripted of this.#faults) scripted.left = 0
    this.#faults = []
  }
}
