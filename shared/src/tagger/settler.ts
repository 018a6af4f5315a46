import type { ClaimKey } from '../claims/claim-key.ts'
import type { Volume } from '../claims/volume.ts'
import type { Logger } from '../runtime/logger.ts'
import type { RecordWriter } from './ports.ts'

export interface SettlerDeps {
  readonly records: RecordWriter
  readonly logger: Logger
  /** The record could not be closed: the claim has to be looked at again, disk included. */
  readonly onUnsettled: (key: ClaimKey) => void
}

/**
 * Closes intents off the critical path: the tag is on the disk already, so this waits for every other call to the API
 * server. A later job for the same volume waits here first and goes on from the closed record, which is cheaper than the
 * cloud read that an open one would cost it.
 */
export class Settler {
  readonly #deps: SettlerDeps
  readonly #open = new Map<string, Promise<Volume | undefined>>()
  readonly #stop = new AbortController()

  constructor(deps: SettlerDeps) {
    this.#deps = deps
  }

  settle(key: ClaimKey, volume: Volume, applied: string): void {
    const writing = this.#write(key, volume, applied).finally(() => {
      if (this.#open.get(volume.uid) === writing) this.#open.delete(volume.uid)
    })
    this.#open.set(volume.uid, writing)
  }

  /** The volume after its outstanding settle; the same volume where there is none or it failed. */
  async settled(volume: Volume): Promise<Volume> {
    return (await this.#open.get(volume.uid)) ?? volume
  }

  get openCount(): number {
    return this.#open.size
  }

  /** Resolves when nothing is outstanding. */
  async drained(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open.values())
  }

  /** Gives up what is outstanding: the intents stay open and the next look at each claim closes them. */
  abort(): void {
    this.#stop.abort()
  }

  async #write(key: ClaimKey, volume: Volume, applied: string): Promise<Volume | undefined> {
    const { records, logger, onUnsettled } = this.#deps
    try {
      return await records.writeRecord(volume, applied, { signal: this.#stop.signal, priority: 'housekeeping' })
    } catch (error) {
      if (!this.#stop.signal.aborted) {
        logger.debug({ claim: key, volume: volume.name, err: error }, 'record not settled, looking again')
        onUnsettled(key)
      }
      return undefined
    }
  }
}
