import { timestampMs } from '../runtime/timestamps.ts'

/** A Retry-After header in milliseconds from now: seconds, or an HTTP date. Undefined where it says neither. */
export function retryAfterMs(header: string | undefined, nowWallMs: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined
  const atMs = timestampMs(header)
  return atMs === undefined ? undefined : Math.max(0, atMs - nowWallMs)
}
