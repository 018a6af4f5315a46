/**
 * Time as the product sees it. Wall time is for what other processes or people read (records, Leases, certificates);
 * monotonic time is for every duration, since a wall clock may be set back.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  wallMs(): number
  /** Milliseconds since an arbitrary start; never goes back. */
  monotonicMs(): number
  /** Calls back once, not before `delayMs` from now. The returned timer never keeps the process alive by itself. */
  setTimer(delayMs: number, callback: () => void): Timer
}

export interface Timer {
  cancel(): void
}

// Node fires a timer at once when its delay does not fit in 31 bits.
const longestTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(delayMs, callback) {
    const handle = setTimeout(callback, Math.min(Math.max(0, delayMs), longestTimerMs))
    handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Resolves after `delayMs`, or at once when `signal` aborts; look at the signal to tell which. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = () => {
      timer.cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = clock.setTimer(delayMs, finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}

/** Resolves when `work` has ended, well or not, and at the latest after `limitMs`. */
export function atMost(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController()
  const end = () => ended.abort()
  work.then(end, end)
  return pause(clock, limitMs, ended.signal)
}
