/**
 * Tells which of many waiting jobs an AbortSignal gave up. One listener a signal, since thousands of jobs share one and
 * EventTarget searches its list for every listener added.
 */
export class AbortWatch<Job extends { readonly signal: AbortSignal }> {
  readonly #onAbort: (job: Job) => void
  readonly #watched = new Map<AbortSignal, { readonly jobs: Set<Job>; readonly listener: () => void }>()

  constructor(onAbort: (job: Job) => void) {
    this.#onAbort = onAbort
  }

  watch(job: Job): void {
    const { signal } = job
    let entry = this.#watched.get(signal)
    if (entry === undefined) {
      const jobs = new Set<Job>()
      const listener = () => {
        this.#watched.delete(signal)
        for (const each of jobs) this.#onAbort(each)
      }
      entry = { jobs, listener }
      this.#watched.set(signal, entry)
      signal.addEventListener('abort', listener, { once: true })
    }
    entry.jobs.add(job)
  }

  unwatch(job: Job): void {
    const entry = this.#watched.get(job.signal)
    if (entry === undefined) return
    entry.jobs.delete(job)
    if (entry.jobs.size > 0) return
    job.signal.removeEventListener('abort', entry.listener)
    this.#watched.delete(job.signal)
  }
}
