import type { ManagedProcess } from '../src/managed-process.ts'
import { memoryOf } from '../src/processes.ts'

const everyMs = 50

/** Anonymous memory of processes from their first moment on, which the kernel keeps no peak of. */
export class MemoryWatch {
  readonly #peaks = new Map<string, number>()
  readonly #startedAtMs = new Map<string, number>()
  readonly #timers: NodeJS.Timeout[] = []

  add(process: ManagedProcess): void {
    this.#startedAtMs.set(process.name, performance.now())
    const timer = setInterval(() => {
      if (process.running) this.#look(process)
      else clearInterval(timer)
    }, everyMs)
    this.#timers.push(timer)
  }

  /** MiB; 0 for a process that was never seen. */
  peakOf(name: string): number {
    return this.#peaks.get(name) ?? 0
  }

  /** From now on. */
  forgetPeaks(): void {
    this.#peaks.clear()
  }

  /** Monotonic time at which the process was started last. */
  startedAtMs(name: string): number {
    return this.#startedAtMs.get(name) ?? Number.NaN
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  #look(process: ManagedProcess): void {
    try {
      const { anonymousMiB } = memoryOf(process)
      this.#peaks.set(process.name, Math.max(this.peakOf(process.name), anonymousMiB))
    } catch {
      // It ended between the question and the answer.
    }
  }
}
