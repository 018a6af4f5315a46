import type { Clock } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import { withJitter } from '../runtime/random.ts'
import { ProviderError } from './provider-error.ts'

const probeEveryMs = 300_000
/** While a probe is out, the others are asked to come back soon rather than in five minutes: it may succeed. */
const retryDuringProbeMs = 15_000

type State =
  | { readonly kind: 'open'; readonly deniedDisk: string | undefined }
  | { readonly kind: 'slow'; readonly probeAtMs: number; readonly probing: boolean }

/**
 * What became of the permission for each operation of one account scope. Missing rights concern every disk, and asking
 * ten thousand times does not help; yet one disk that a policy singles out must not stop the others. So an operation
 * goes slow only after two different disks were denied singly with no success between; then one probe every five
 * minutes is let through, and any success ends it.
 *
 * By operation and not by scope: whoever may read but not write would otherwise never count as denied.
 */
export class SlowLane {
  readonly #clock: Clock
  readonly #random: Random
  readonly #states = new Map<string, State>()

  constructor(options: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = options.clock
    this.#random = options.random
  }

  isSlow(operation?: string): boolean {
    if (operation !== undefined) return this.#states.get(operation)?.kind === 'slow'
    for (const state of this.#states.values()) if (state.kind === 'slow') return true
    return false
  }

  /** Lets a call through, as a probe where the lane is slow and one is due, or says why not. */
  admit(operation: string): 'open' | 'probe' | ProviderError {
    const state = this.#states.get(operation)
    if (state === undefined || state.kind === 'open') return 'open'
    const nowMs = this.#clock.monotonicMs()
    if (nowMs < state.probeAtMs) {
      return refusal(operation, state.probing ? retryDuringProbeMs : state.probeAtMs - nowMs)
    }
    this.#states.set(operation, { kind: 'slow', probeAtMs: this.#nextProbeMs(), probing: true })
    return 'probe'
  }

  /** For what was admitted before: the refusal where the lane has become slow meanwhile. */
  refusalFor(operation: string): ProviderError | undefined {
    const state = this.#states.get(operation)
    if (state?.kind !== 'slow') return undefined
    return refusal(operation, Math.max(0, state.probeAtMs - this.#clock.monotonicMs()))
  }

  probeEnded(operation: string): void {
    const state = this.#states.get(operation)
    if (state?.kind === 'slow') this.#states.set(operation, { ...state, probing: false })
  }

  /** One disk, asked for alone, was denied. */
  deniedSingly(operation: string, disk: string): void {
    const state = this.#states.get(operation)
    if (state?.kind === 'slow') return
    if (state?.deniedDisk === undefined || state.deniedDisk === disk) {
      this.#states.set(operation, { kind: 'open', deniedDisk: disk })
      return
    }
    this.#states.set(operation, { kind: 'slow', probeAtMs: this.#nextProbeMs(), probing: false })
  }

  succeeded(operation: string): void {
    this.#states.delete(operation)
  }

  #nextProbeMs(): number {
    return this.#clock.monotonicMs() + withJitter(probeEveryMs, this.#random)
  }
}

function refusal(operation: string, retryAfterMs: number): ProviderError {
  return new ProviderError('denied', `${operation} was denied for several disks; it is tried again every 5 minutes`, {
    code: 'SlowLane',
    retryAfterMs,
  })
}
