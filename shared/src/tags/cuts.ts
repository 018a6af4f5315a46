/** The beginning of a text, in code points. Never half of one. */
export function firstCodePoints(text: string, count: number): string {
  // A code point is one or two UTF-16 units.
  return text.length <= count ? text : Array.from(text).slice(0, count).join('')
}

/** The beginning of a text, in UTF-16 units, as .NET and JavaScript count. Never half of a surrogate pair. */
export function firstUnits(text: string, count: number): string {
  if (text.length <= count) return text
  const head = text.slice(0, count)
  return head.isWellFormed() ? head : head.slice(0, -1)
}

/** The beginning of a text, in bytes of UTF-8, as Go counts. Undefined where the cut would go through a character. */
export function firstBytes(text: string, count: number): string | undefined {
  if (Buffer.byteLength(text) <= count) return text
  let bytes = 0
  let kept = 0
  for (const character of text) {
    if (bytes >= count) break
    bytes += Buffer.byteLength(character)
    kept += character.length
  }
  return bytes === count ? text.slice(0, kept) : undefined
}
