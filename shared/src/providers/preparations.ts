import type { Clock, Timer } from '../runtime/clock.ts'
import { pause } from '../runtime/clock.ts'
import { notSent } from './batch-queue.ts'
import type { ProviderError } from './provider-error.ts'

/** What has to be asked before it may be sent. */
export interface Preparable {
  readonly beforeSend: (() => Promise<number>) | undefined
  /** Monotonic ms after which it may not be sent; undefined until `beforeSend` has answered. */
  deadlineMs: number | undefined
  readonly ended: boolean
  fail(error: ProviderError): void
  failWith(reason: unknown): void
}

/** One slow answer must not keep a thousand others from leaving. */
const waitMs = 2000
/** A thousand answers take their time: an API server on two busy cores gives 250 and more a second. */
const waitPerMemberMs = 4
/** After this a member that never answers is given up, so that its worker is free. */
const lateForMs = 30_000

/**
 * Runs the members' `beforeSend` concurrently, once for each, and waits for a short while. Who is late is handed to
 * `onLate` when its answer comes, and then needs no asking any more.
 */
export class Preparations<Member extends Preparable> {
  readonly #clock: Clock
  readonly #onLate: (member: Member) => void
  readonly #late = new Map<Member, Timer>()
  /** Ends the short waits that are under way. */
  readonly #waits = new Set<AbortController>()
  #stopReason: ProviderError | undefined

  constructor(options: { readonly clock: Clock; readonly onLate: (member: Member) => void }) {
    this.#clock = options.clock
    this.#onLate = options.onLate
  }

  /** How many have not answered yet and were left behind. */
  get late(): number {
    return this.#late.size
  }

  /** Resolves to those that may be sent now. */
  async prepare(members: readonly Member[]): Promise<readonly Member[]> {
    const asked = members.filter(({ deadlineMs }) => deadlineMs === undefined)
    if (asked.length > 0) await this.#askAll(asked)
    return members.filter(({ deadlineMs, ended }) => deadlineMs !== undefined && !ended)
  }

  stop(reason: ProviderError): void {
    this.#stopReason = reason
    for (const wait of this.#waits) wait.abort()
    for (const [member, timer] of this.#late) {
      timer.cancel()
      member.fail(reason)
    }
    this.#late.clear()
  }

  async #askAll(asked: readonly Member[]): Promise<void> {
    const answers = asked.flatMap((member) => this.#ask(member) ?? [])
    if (answers.length === 0) return
    const wait = new AbortController()
    this.#waits.add(wait)
    await Promise.race([
      Promise.all(answers),
      pause(this.#clock, waitMs + waitPerMemberMs * answers.length, wait.signal),
    ])
    this.#waits.delete(wait)
    wait.abort()
    for (const member of asked) if (member.deadlineMs === undefined && !member.ended) this.#leaveBehind(member)
  }

  /** Undefined where there is nothing to wait for. */
  #ask(member: Member): Promise<void> | undefined {
    const { beforeSend } = member
    if (beforeSend === undefined) {
      member.deadlineMs = Number.POSITIVE_INFINITY
      return undefined
    }
    // In an async function, so that what it throws at once is a rejection too.
    return (async () => beforeSend())().then(
      (deadlineMs) => {
        member.deadlineMs = deadlineMs
        if (this.#arrived(member)) this.#onLate(member)
      },
      (reason: unknown) => {
        this.#arrived(member)
        member.failWith(reason)
      },
    )
  }

  /** True where it was late and is still wanted. */
  #arrived(member: Member): boolean {
    const timer = this.#late.get(member)
    timer?.cancel()
    this.#late.delete(member)
    return timer !== undefined && !member.ended
  }

  #leaveBehind(member: Member): void {
    if (this.#stopReason !== undefined) return member.fail(this.#stopReason)
    const timer = this.#clock.setTimer(lateForMs, () => {
      this.#late.delete(member)
      member.fail(notSent('what has to happen before it did not happen in time'))
    })
    this.#late.set(member, timer)
  }
}
