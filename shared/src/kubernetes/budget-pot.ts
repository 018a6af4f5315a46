import type { CallRate } from '../providers/account-budget.ts'
import type { Lane } from '../providers/provider.ts'
import type { TokenPot } from '../providers/token-pot.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { ApiTransport } from './api-request.ts'
import { asObject, parseObject, stringAt } from './json.ts'
import { KubernetesError, type KubernetesErrorKind } from './kubernetes-error.ts'
import { LeaseClient, type Lease } from './lease.ts'

export interface BudgetPotOptions {
  readonly transport: ApiTransport
  readonly namespace: string
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly rates: Readonly<Record<string, CallRate>>
}

export const budgetLeaseName = 'k8s-cloud-tagger-budget'
const budgetAnnotation = 'k8s-cloud-tagger/budget'
const callTimeoutMs = 2_000
/** No right to the Lease, no such namespace, or a policy against it: none of which a later try would change. */
const noPotKinds: ReadonlySet<KubernetesErrorKind> = new Set(['denied', 'not-found', 'invalid'])
/** Two processes that draw at the same moment meet in a conflict; four in a row do not happen to a few of them. */
const triesMax = 4
/** Bulk leaves this part of a full pot to fresh changes. */
const freshPart = 0.25

/**
 * A pot kept in an annotation of a Lease, which every process of an installation may write. What is there is computed from
 * when it was last written, so an idle installation writes nothing; whoever draws writes what is left, on condition that
 * nobody wrote meanwhile. Wall clocks of nodes differ by less than matters here.
 */
export class BudgetPot implements TokenPot {
  readonly #options: BudgetPotOptions
  readonly #client: LeaseClient
  #seen: Lease | undefined
  #closed = false
  #drawing: Promise<unknown> = Promise.resolve()

  constructor(options: BudgetPotOptions) {
    this.#options = options
    this.#client = new LeaseClient({ ...options, name: budgetLeaseName })
  }

  draw(operation: string, want: number, lane: Lane): Promise<number | undefined> {
    const draw = this.#drawing.then(() => this.#draw(operation, want, lane))
    this.#drawing = draw
    return draw
  }

  async #draw(operation: string, want: number, lane: Lane): Promise<number | undefined> {
    const { logger, signal } = this.#options
    if (this.#closed || signal.aborted) return undefined
    try {
      for (let tries = 0; tries < triesMax; tries++) {
        const drawn = await this.#tryToDraw(operation, want, lane)
        if (drawn !== undefined) return drawn
        this.#seen = undefined
      }
      return 0
    } catch (error) {
      if (signal.aborted) return undefined
      const isFinal = error instanceof KubernetesError && noPotKinds.has(error.kind)
      this.#closed = isFinal
      this.#seen = undefined
      if (isFinal)
        logger.info(
          { lease: budgetLeaseName, namespace: this.#options.namespace, reason: error.message },
          'no shared budget: keeping to the stated share',
        )
      else logger.debug({ err: error }, 'the shared budget cannot be reached')
      return isFinal ? undefined : 0
    }
  }

  /** Undefined where somebody else wrote first. */
  async #tryToDraw(operation: string, want: number, lane: Lane): Promise<number | undefined> {
    const { clock, signal } = this.#options
    const call = { timeoutMs: callTimeoutMs, signal }
    const isFresh = this.#seen === undefined
    this.#seen ??= await this.#client.get(call)
    const nowWallMs = clock.wallMs()
    const tokens = this.#tokens(nowWallMs)
    const spare = tokens.get(operation) ?? 0
    const reserve = lane === 'fresh' ? 0 : (this.#options.rates[operation]?.burst ?? 0) * freshPart
    const drawn = Math.min(want, Math.floor(spare - reserve))
    // What was remembered may be older than what others gave back time for: look before saying that it is empty.
    if (drawn < 1) return isFresh ? 0 : undefined

    tokens.set(operation, spare - drawn)
    const annotations = { [budgetAnnotation]: JSON.stringify({ atMs: nowWallMs, tokens: Object.fromEntries(tokens) }) }
    const holding = { holder: '', durationMs: 1000, nowWallMs, annotations }
    try {
      const seen = this.#seen
      this.#seen = await (seen === undefined
        ? this.#client.create(holding, call)
        : this.#client.update(seen, holding, call))
      return drawn
    } catch (error) {
      if (error instanceof KubernetesError && error.kind === 'conflict') return undefined
      throw error
    }
  }

  /** A pot that nobody can read, or that is new, is full. */
  #tokens(nowWallMs: number): Map<string, number> {
    const noted = parseObject(stringAt(asObject(this.#seen?.annotations), budgetAnnotation) ?? '')
    const left = asObject(noted?.['tokens'])
    const atMs = noted?.['atMs']
    const elapsedMs = typeof atMs === 'number' ? Math.max(0, nowWallMs - atMs) : Number.POSITIVE_INFINITY
    return new Map(
      Object.entries(this.#options.rates).map(([operation, { burst, perSecond }]) => {
        const before = left?.[operation]
        const gained = (elapsedMs / 1000) * perSecond
        return [operation, Math.min(burst, typeof before === 'number' ? before + gained : burst)]
      }),
    )
  }
}
