import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import { grouped } from './words.ts'

export interface ProgressOptions {
  readonly write: (text: string) => void
  /** On a terminal one line is kept up to date; elsewhere a line is written every few seconds. */
  readonly isTerminal: boolean
  readonly clock: Clock
}

const liveEveryMs = 100
const lineEveryMs = 3000
const clearLine = '\r\u001B[K'

/** Tells on standard error how far long work has come. Work that is done at once is not worth a line. */
export class Progress {
  readonly #options: ProgressOptions
  #lastMs: number
  #isLive = false

  constructor(options: ProgressOptions) {
    this.#options = options
    this.#lastMs = options.clock.monotonicMs()
  }

  /** `all` where it is known. */
  at(stage: string, done: number, all?: number): void {
    const { clock, isTerminal, write } = this.#options
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#lastMs < (isTerminal ? liveEveryMs : lineEveryMs)) return
    this.#lastMs = nowMs
    const line = `${stage}: ${grouped(done)}${all === undefined ? '' : ` of ${grouped(all)}`}`
    write(isTerminal ? `${clearLine}${line}` : `${line}\n`)
    this.#isLive = isTerminal
  }

  /** For what has to be read: not lost in the line that is rewritten. */
  say(line: string): void {
    this.end()
    this.#options.write(`${line}\n`)
  }

  /** Takes the live line away. */
  end(): void {
    if (this.#isLive) this.#options.write(clearLine)
    this.#isLive = false
  }
}
