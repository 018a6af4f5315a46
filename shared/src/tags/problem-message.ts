import { firstUnits } from './cuts.ts'

/**
 * An admission warning has at most 120 characters, and reads `<label>: <message>`: this leaves 40 for the label, and
 * two for what is between.
 */
export const messageLengthMax = 78

const ellipsis = '...'

/** One sentence that says a name or a value at its place, cut where the whole would be too long. */
export function messageNaming(before: string, named: string, after = ''): string {
  const room = messageLengthMax - before.length - after.length
  const shown = named.toWellFormed().replaceAll(/\p{Cc}/gu, '?')
  if (shown.length <= room) return before + shown + after
  return before + firstUnits(shown, room - ellipsis.length) + ellipsis + after
}
