const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const bitsPerCharacter = 5

/** The first bits, five to a character (RFC 4648, lower case): every cloud takes these characters in a key. */
export function base32Head(bytes: Uint8Array, length: number): string {
  let bits = 0
  let held = 0
  let text = ''
  for (const byte of bytes) {
    bits = (bits << 8) | byte
    held += 8
    while (held >= bitsPerCharacter && text.length < length) {
      held -= bitsPerCharacter
      text += alphabet[(bits >> held) & 31]
    }
    if (text.length === length) break
    bits &= (1 << held) - 1
  }
  return text
}
