import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import type { Clock, Timer } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Logger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import { isSamePair, readCertificatePair } from './certificate-pair.ts'
import type { CertificatePair } from './certificate-pair.ts'

export interface CertificateWatcherOptions {
  readonly directory: string
  readonly clock: Clock
  readonly logger: Logger
  /** Called for each new good pair, the first one included. */
  readonly onPair: (pair: CertificatePair) => void
  readonly onAttempt: (outcome: 'loaded' | 'unchanged' | 'failed') => void
}

/** `fs.watch` on a folder sees each swap of `..data`, but not on every file system; the poll is the promise. */
const pollMs = 10_000
/** A Secret's files change in a burst: they are read this long after its first sign. */
const burstMs = 200

/** Keeps the last good pair in force, whatever happens to the files. */
export class CertificateWatcher {
  readonly #options: CertificateWatcherOptions
  #current: CertificatePair | undefined
  #complained = ''
  #poll: Timer | undefined
  #burst: Timer | undefined
  #watcher: FSWatcher | undefined
  #stopped = false
  #loading = Promise.resolve()

  constructor(options: CertificateWatcherOptions) {
    this.#options = options
  }

  get current(): CertificatePair | undefined {
    return this.#current
  }

  /** Resolves after the first look; a pair that is not there yet is waited for, not an error. */
  async start(): Promise<void> {
    // Watched first, so that no swap falls between.
    this.#watch()
    await this.load()
    this.#pollOn()
  }

  stop(): void {
    this.#stopped = true
    this.#poll?.cancel()
    this.#burst?.cancel()
    this.#watcher?.close()
  }

  /** One look at the files, after those that are under way: they may have read what was there before. */
  load(): Promise<void> {
    this.#loading = this.#loading.then(() => this.#load())
    return this.#loading
  }

  async #load(): Promise<void> {
    const { directory, logger, onPair, onAttempt } = this.#options
    try {
      const pair = await readCertificatePair(directory)
      this.#complained = ''
      if (this.#current !== undefined && isSamePair(pair, this.#current)) return onAttempt('unchanged')
      this.#current = pair
      onPair(pair)
      onAttempt('loaded')
      logger.info({ directory, fingerprint: pair.fingerprint, notAfter: pair.notAfterMs }, 'certificate loaded')
    } catch (error) {
      onAttempt('failed')
      const problem = error instanceof Error ? error.message : String(error)
      // Once for each problem: the poll would repeat it every ten seconds.
      if (problem !== this.#complained) {
        const kept = this.#current !== undefined
        logger.warn({ directory, problem, kept }, 'certificate cannot be loaded')
      }
      this.#complained = problem
    }
  }

  #watch(): void {
    if (this.#watcher !== undefined) return
    try {
      this.#watcher = watch(this.#options.directory, () => this.#changed())
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // The folder is not there yet, or cannot be watched: the poll sees it.
    }
  }

  #changed(): void {
    if (this.#stopped) return
    this.#burst ??= this.#options.clock.setTimer(burstMs, () => {
      this.#burst = undefined
      void this.load()
    })
  }

  #pollOn(): void {
    if (this.#stopped) return
    this.#watch()
    this.#poll = this.#options.clock.setTimer(pollMs, () => void this.load().then(() => this.#pollOn()))
  }
}
