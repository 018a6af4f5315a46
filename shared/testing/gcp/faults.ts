import type { RecordedCall } from './call-log.ts'

/**
 * What can go wrong, one call at a time. Given to `GcpFake.inject`, for the next call that matches, the next `times`, or
 * (`times: Infinity`, over HTTP `"always"`) until cleared:
 *
 * - `throttle`     403 rateLimitExceeded, nothing done; with Retry-After where `retryAfterSeconds` is given
 * - `error`        any status and reason, nothing done
 * - `hang`         nothing done and no answer until `release()`, which lets the call go its ordinary way
 * - `drop`         the connection is cut before anything was done
 * - `lost-answer`  the write takes effect at once, then the connection is cut, or (`how: 'hang'`) kept silent
 * - `late-write`   checked now, silent at once, takes effect `landsAfterMs` later even if the client has gone
 * - `slow`         answers rightly, `byMs` later than it would have
 * - `garbage`      the call is done, the answer is 200 with something that is no JSON
 * - `failed-operation`  a write is accepted and its operation says that it failed
 *
 * Lasting conditions of the cloud are not faults of a call and have methods of their own on `GcpFake`:
 *
 * - `deny(ids)`         403 forbidden for every setLabels on one of them; `allow(ids)` ends it
 * - `fill(id)`          the disk has 64 labels: not one more can be added
 * - `operationsLast`    a write takes effect only when its operation is done; meanwhile the disk is not ready for another
 * - `enforceQuota`      1,500 reads, lists and mutations a minute for each project
 * - `errorDetails`      whether errors carry `details` with an ErrorInfo (true)
 */
export type Fault =
  | { readonly kind: 'throttle'; readonly retryAfterSeconds?: number }
  | { readonly kind: 'error'; readonly status: number; readonly reason: string; readonly message?: string }
  | { readonly kind: 'hang' }
  | { readonly kind: 'drop' }
  | { readonly kind: 'lost-answer'; readonly how?: 'drop' | 'hang' }
  | { readonly kind: 'late-write'; readonly landsAfterMs: number }
  | { readonly kind: 'slow'; readonly byMs: number }
  | { readonly kind: 'garbage'; readonly body?: string; readonly status?: number }
  | { readonly kind: 'failed-operation'; readonly status: number; readonly code: string }

export interface FaultScope {
  /** Such as `disks.setLabels`, or only `setLabels` for zones and regions alike; any where it is missing. */
  readonly operation?: string
  /** Calls that name one of these disks; any call where it is missing. */
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

function matches({ ids, operation }: FaultScope, call: RecordedCall): boolean {
  if (operation !== undefined && operation !== call.operation && !call.operation.endsWith(`.${operation}`)) return false
  return ids === undefined || (call.disk !== undefined && ids.includes(call.disk))
}
