import { isoTimestamp } from '../runtime/timestamps.ts'

/** Leases and Events take exactly six digits of a second: three are answered with 400. */
export function microTime(wallMs: number): string {
  return isoTimestamp(wallMs).replace('Z', '000Z')
}
