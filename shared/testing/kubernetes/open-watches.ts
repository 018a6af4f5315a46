import type { ApiRequest } from './api-request.ts'
import { tooOldResourceVersion } from './api-status.ts'
import type { VersionCounter } from './object-store.ts'
import type { WatchSettings, WatchStream } from './watch-stream.ts'

type Matches = (request: ApiRequest) => boolean

const every: Matches = () => true

/** The watches that are open now, and what a test can do to them. */
export class OpenWatches {
  readonly #streams = new Set<WatchStream>()
  readonly #counter: VersionCounter

  constructor(counter: VersionCounter) {
    this.#counter = counter
  }

  /** Their requests, in the order in which they came. */
  get requests(): readonly ApiRequest[] {
    return [...this.#streams].map(({ request }) => request)
  }

  /** Breaks the connection in the middle of a line. */
  cut(matches: Matches = every): void {
    for (const stream of this.#matching(matches)) stream.cut()
  }

  /** Ends them as their time-out would. */
  end(matches: Matches = every): void {
    for (const stream of this.#matching(matches)) stream.end()
  }

  /** They stay open and say nothing any more. */
  silence(matches: Matches = every): void {
    for (const stream of this.#matching(matches)) stream.silence()
  }

  /** Sends an ERROR event 410 and ends them. */
  expire(matches: Matches = every): void {
    for (const stream of this.#matching(matches)) stream.fail(tooOldResourceVersion(1, this.#counter.current))
  }

  /** Resolves when the stream has ended. */
  async run(stream: WatchStream, settings: WatchSettings): Promise<void> {
    this.#streams.add(stream)
    try {
      await stream.run(settings)
    } finally {
      this.#streams.delete(stream)
    }
  }

  #matching(matches: Matches): WatchStream[] {
    return [...this.#streams].filter(({ request }) => matches(request))
  }
}
