import type { ApiRequest } from './api-request.ts'

export type FaultEffect =
  /** This answer instead of the real one; nothing is stored. */
  | { readonly kind: 'status'; readonly code: number; readonly retryAfterSeconds?: number; readonly message?: string }
  /** No answer ever; nothing is stored. */
  | { readonly kind: 'hang' }
  /** The connection is closed without an answer; nothing is stored. */
  | { readonly kind: 'drop' }
  /** The request is carried out, then the connection is closed without an answer. */
  | { readonly kind: 'lose-answer' }
  /** The request is carried out after this time. */
  | { readonly kind: 'delay'; readonly delayMs: number }

interface Fault {
  readonly matches: (request: ApiRequest) => boolean
  readonly effect: FaultEffect
  left: number
}

/** Scripted misfortune. The fault that was added first and still has turns left is taken. */
export class Faults {
  readonly #faults: Fault[] = []

  add(times: number, matches: (request: ApiRequest) => boolean, effect: FaultEffect): void {
    this.#faults.push({ matches, effect, left: times })
  }

  clear(): void {
    this.#faults.length = 0
  }

  /** Turns that no request has used yet: a test can assert that its fault took place. */
  get unused(): number {
    return this.#faults.reduce((sum, { left }) => sum + left, 0)
  }

  take(request: ApiRequest): FaultEffect | undefined {
    const fault = this.#faults.find(({ left, matches }) => left > 0 && matches(request))
    if (fault === undefined) return undefined
    fault.left--
    return fault.effect
  }
}
