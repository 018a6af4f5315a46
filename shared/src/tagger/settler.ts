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
  /** Waiting: can be taken over, which leaves the call with nothing to say. Sent: can only be waited for. */
  state: 'waiting' | 'sent' | 'taken-over'
  ended: Promise<Volume | undefined>
}

/** Each holds a record and a volume in memory until the API server has time for it. */
const openMax = 2000

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
  /** Those that wait for room, in order. */
  readonly #waiting: (() => void)[] = []

  constructor(deps: SettlerDeps) {
    this.#deps = deps
  }

  settle(key: ClaimKey, volume: Volume, applied: string): void {
    const settling: Settling = {
      volume,
      applied,
      state: 'waiting',
      ended: Promise.resolve(undefined),
    }
    this.#open.set(volume.uid, settling)
    settling.ended = this.#write(key, settling).finally(() => {
      if (this.#open.get(volume.uid) === settling) this.#open.delete(volume.uid)
      // All of them: one that is woken and then fails settles nothing that would wake the next.
      if (this.#open.size <= openMax) for (const wake of this.#waiting.splice(0)) wake()
    })
  }

  /**
   * For the job that holds this volume's disk: undefined where nothing is under way, or it failed, so that the volume as
   * read is the latest.
   */
  async takeOver(volume: Volume): Promise<LatestRecord | undefined> {
    const settling = this.#open.get(volume.uid)
    if (settling === undefined) return undefined
    if (settling.state === 'sent') {
      const settled = await settling.ended
      return settled && { volume: settled }
    }
    this.#open.delete(volume.uid)
    settling.state = 'taken-over'
    return { volume: settling.volume, decided: settling.applied }
  }

  /** Resolves when few enough are outstanding: bulk work must not pile up what it has decided. */
  async hasRoom(): Promise<void> {
    while (this.#open.size > openMax) await new Promise<void>((resolve) => this.#waiting.push(resolve))
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
    const { volume } = settling
    const applied = () => {
      if (settling.state === 'taken-over') throw new Error('somebody else writes this record')
      settling.state = 'sent'
      return settling.applied
    }
    try {
      const options = { signal: this.#stop.signal, priority: 'housekeeping' } as const
      const written = await records.writeRecord(volume, applied, options)
      this.#failures.delete(volume.uid)
      return written
    } catch (error) {
      if (this.#stop.signal.aborted || settling.state === 'taken-over') return undefined
      const failures = (this.#failures.get(volume.uid) ?? 0) + 1
      this.#failures.set(volume.uid, failures)
      logger.debug({ claim: key, volume: volume.name, failures, err: error }, 'record not settled, looking again')
      onUnsettled(key, failures)
      return undefined
    }
  }
}
