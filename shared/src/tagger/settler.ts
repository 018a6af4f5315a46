import type { ClaimKey } from '../claims/claim-key.ts'
import type { Volume } from '../claims/volume.ts'
import type { Logger } from '../runtime/logger.ts'
import type { RecordWriter } from './ports.ts'

export interface SettlerDeps {
  readonly records: RecordWriter
  readonly logger: Logger
  /** The record could not be closed, this many times in a row: the claim has to be looked at again, disk included. */
  readonly onUnsettled: (key: ClaimKey, failures: number) => void
}

/** What a job has to go on from. */
export interface LatestRecord {
  /** As the last write left it: what the next write has to find. */
  readonly volume: Volume
  /** The record that was decided since and is not written. */
  readonly decided?: string
}

interface Settling {
  readonly volume: Volume
  readonly applied: string
  readonly abort: AbortController
  /** True from when the call has left: then it can only be waited for. */
  sent: boolean
  ended: Promise<Volume | undefined>
}

/**
 * Closes intents off the critical path: the tag is on the disk already, so this waits for every other call to the API
 * server. A later job for the same volume goes on from the decided record: it takes over what was not sent, which saves a
 * write, and waits for what was.
 */
export class Settler {
  readonly #deps: SettlerDeps
  readonly #open = new Map<string, Settling>()
  /** How often in a row a volume's record could not be closed. */
  readonly #failures = new Map<string, number>()
  readonly #stop = new AbortController()

  constructor(deps: SettlerDeps) {
    this.#deps = deps
  }

  settle(key: ClaimKey, volume: Volume, applied: string): void {
    const settling: Settling = {
      volume,
      applied,
      abort: new AbortController(),
      sent: false,
      ended: Promise.resolve(undefined),
    }
    this.#open.set(volume.uid, settling)
    settling.ended = this.#write(key, settling).finally(() => {
      if (this.#open.get(volume.uid) === settling) this.#open.delete(volume.uid)
    })
  }

  /**
   * For the job that holds this volume's disk: undefined where nothing is under way, or it failed, so that the volume as
   * read is the latest.
   */
  async takeOver(volume: Volume): Promise<LatestRecord | undefined> {
    const settling = this.#open.get(volume.uid)
    if (settling === undefined) return undefined
    if (settling.sent) {
      const settled = await settling.ended
      return settled && { volume: settled }
    }
    this.#open.delete(volume.uid)
    settling.abort.abort()
    return { volume: settling.volume, decided: settling.applied }
  }

  get openCount(): number {
    return this.#open.size
  }

  /** Resolves when nothing is outstanding. */
  async drained(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled([...this.#open.values()].map(({ ended }) => ended))
  }

  /** Gives up what is outstanding: the intents stay open and the next look at each claim closes them. */
  abort(): void {
    this.#stop.abort()
  }

  async #write(key: ClaimKey, settling: Settling): Promise<Volume | undefined> {
    const { records, logger, onUnsettled } = this.#deps
    const { volume, abort } = settling
    const applied = () => {
      settling.sent = true
      return settling.applied
    }
    const signal = AbortSignal.any([this.#stop.signal, abort.signal])
    try {
      const written = await records.writeRecord(volume, applied, { signal, priority: 'housekeeping' })
      this.#failures.delete(volume.uid)
      return written
    } catch (error) {
      if (signal.aborted) return undefined
      const failures = (this.#failures.get(volume.uid) ?? 0) + 1
      this.#failures.set(volume.uid, failures)
      logger.debug({ claim: key, volume: volume.name, failures, err: error }, 'record not settled, looking again')
      onUnsettled(key, failures)
      return undefined
    }
  }
}
