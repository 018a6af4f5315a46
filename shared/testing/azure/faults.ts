import type { RecordedCall } from './call-log.ts'

/**
 * What can go wrong, one call at a time. Given to `AzureFake.inject`, for the next call that matches, the next `times`,
 * or (`times: Infinity`, over HTTP `"always"`) until cleared:
 *
 * - `throttle`     429 with Retry-After where `retryAfterSeconds` is given, nothing done
 * - `error`        any code and status, nothing done; without a `code` the body is no JSON, as of some proxy
 * - `hang`         nothing done and no answer until `release()`, which lets the call go its ordinary way
 * - `drop`         the connection is cut before anything was done
 * - `lost-answer`  the write takes effect at once, then the connection is cut, or (`how: 'hang'`) kept silent
 * - `late-write`   checked now, silent at once, takes effect `landsAfterMs` later even if the client has gone
 * - `slow`         answers rightly, `byMs` later than it would have
 * - `garbage`      the call is done, the answer is 200 with something that is no JSON
 *
 * Lasting conditions of the cloud are not faults of a call and have methods of their own on `AzureFake`:
 *
 * - `deny(ids)`          403 AuthorizationFailed for writes to these disks; `allow(ids)` ends it
 * - `denyReads(ids)`     the same for reads
 * - `lockDown(group)`    403 DenyAssignmentAuthorizationFailed for writes into this resource group
 * - `lock(scope)`        409 ScopeLocked for writes to this disk, or into this resource group; `unlock(scope)`
 * - `fill(id)`           the disk has 50 tags
 * - `consistency`        `readLagMs`: reads, and what Merge and Delete start from, lag behind writes; `graphLagMs`:
 *                        Resource Graph does
 * - `buckets`            ARM's and Resource Graph's own buckets are enforced
 * - `remaining`          what the remaining-quota headers say, whatever is true
 */
export type Fault =
  | { readonly kind: 'throttle'; readonly retryAfterSeconds?: number }
  | { readonly kind: 'error'; readonly code?: string; readonly status?: number; readonly message?: string }
  | { readonly kind: 'hang' }
  | { readonly kind: 'drop' }
  | { readonly kind: 'lost-answer'; readonly how?: 'drop' | 'hang' }
  | { readonly kind: 'late-write'; readonly landsAfterMs: number }
  | { readonly kind: 'slow'; readonly byMs: number }
  | { readonly kind: 'garbage'; readonly body?: string }

export interface FaultScope {
  /** Such as `MergeTags`; any operation where it is missing. */
  readonly operation?: string
  /** Calls about one of these disks; any call where it is missing. */
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

function matches({ operation, ids }: FaultScope, call: RecordedCall): boolean {
  if (operation !== undefined && operation !== call.operation) return false
  return ids === undefined || ids.some((id) => id.toLowerCase() === call.disk?.toLowerCase())
}
