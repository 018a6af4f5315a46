import type { RecordedCall } from './call-log.ts'

/**
 * What can go wrong, one call at a time. Given to `Ec2Fake.inject`, for the next call that matches, the next `times`,
 * or (`times: Infinity`, over HTTP `"always"`) until cleared:
 *
 * - `throttle`     503 RequestLimitExceeded, nothing done; with Retry-After where `retryAfterSeconds` is given
 * - `error`        any code and status, nothing done
 * - `hang`         nothing done and no answer until `release()`, which lets the call go its ordinary way
 * - `drop`         the connection is cut before anything was done
 * - `lost-answer`  the write takes effect at once, then the connection is cut, or (`how: 'hang'`) kept silent
 * - `late-write`   checked now, silent at once, takes effect `landsAfterMs` later even if the client has gone
 * - `slow`         answers rightly, `byMs` later than it would have
 * - `garbage`      the call is done, the answer is 200 with something that is no XML
 *
 * Lasting conditions of the cloud are not faults of a call and have methods of their own on `Ec2Fake`:
 *
 * - `deny(ids)`       UnauthorizedOperation for every write that names one of them; `allow(ids)` ends it
 * - `fill(id)`        the volume has 50 user tags and 10 of AWS's own: not one more can be added
 * - `consistency`     `readLagMs`: reads lag behind writes; `youngVolumeMs`: added volumes are NotFound at first
 * - `buckets`         EC2's own request buckets are enforced
 * - `namesMissing`    whether InvalidVolume.NotFound names the ids (true, as EC2 does)
 * - `namesDenied`     whether UnauthorizedOperation names an id (false: EC2 does so in some answers only)
 */
export type Fault =
  | { readonly kind: 'throttle'; readonly retryAfterSeconds?: number }
  | { readonly kind: 'error'; readonly code: string; readonly status?: number; readonly message?: string }
  | { readonly kind: 'hang' }
  | { readonly kind: 'drop' }
  | { readonly kind: 'lost-answer'; readonly how?: 'drop' | 'hang' }
  | { readonly kind: 'late-write'; readonly landsAfterMs: number }
  | { readonly kind: 'slow'; readonly byMs: number }
  | { readonly kind: 'garbage'; readonly body?: string }

export interface FaultScope {
  /** Such as `CreateTags`; any action where it is missing. */
  readonly action?: string
  /** Calls that name at least one of these volumes; any call where it is missing. */
  readonly ids?: readonly string[]
  /** How many calls it hits; 1 where it is missing. */
  readonly times?: number
}

export interface InjectedFault {
  /** How many calls it has hit so far. */
  readonly hits: number
  clear(): void
}

interface ScriptedFault {
  readonly fault: Fault
  readonly scope: FaultScope
  left: number
  hits: number
}

/** Faults in the order they were injected: a call is hit by the first that matches and is not used up. */
export class FaultScript {
  #faults: ScriptedFault[] = []

  add(fault: Fault, scope: FaultScope): InjectedFault {
    const scripted: ScriptedFault = { fault, scope, left: scope.times ?? 1, hits: 0 }
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

  take(call: RecordedCall): Fault | undefined {
    this.#faults = this.#faults.filter(({ left }) => left > 0)
    const hit = this.#faults.find(({ scope }) => matches(scope, call))
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

function matches({ action, ids }: FaultScope, call: RecordedCall): boolean {
  if (action !== undefined && action !== call.action) return false
  return ids === undefined || call.ids.some((id) => ids.includes(id))
}
