import { createHash } from 'node:crypto'

const charactersMax = 63
const bytesMax = 128
const hashLength = 8
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** How a Kubernetes label becomes one of Google's. Both functions are pure and leave what is legal as it is. */
export interface LabelForm {
  /** Never empty for a key that is not. */
  key(label: string): string
  value(value: string): string
}

/** For people: lower case, and `_` for whatever Google does not take. */
export const readableForm: LabelForm = {
  key(label) {
    const plain = legalCharacters(label)
    return cut(startsWithLetter.test(plain) || plain === '' ? plain : `l_${plain}`)
  },
  value: (value) => cut(legalCharacters(value)),
}

/** Another key for this label, legal like the plain one, that no second label shares. */
export function hashedKey(plainKey: string, label: string): string {
  return `${cut(plainKey, 1 + hashLength)}_${hashOf(label)}`
}

// Letters without case, as in Chinese or Arabic, are letters to Google.
const startsWithLetter = /^[\p{Ll}\p{Lo}]/u
const illegal = /[^\p{Ll}\p{Lo}0-9_-]/gu

function legalCharacters(text: string): string {
  return text.toLowerCase().replaceAll(illegal, '_')
}

/** To 63 characters and 128 bytes, less what is reserved, and never through a character. */
function cut(text: string, reserved = 0): string {
  let characters = charactersMax - reserved
  let bytes = bytesMax - reserved
  let kept = 0
  for (const character of text) {
    characters -= 1
    bytes -= Buffer.byteLength(character)
    if (characters < 0 || bytes < 0) break
    kept += character.length
  }
  return text.slice(0, kept)
}

/** The first bits of SHA-256, five to a character (RFC 4648, lower case). */
function hashOf(text: string): string {
  const digest = createHash('sha256').update(text, 'utf8').digest()
  let bits = digest.readBigUInt64BE(0)
  let hash = ''
  for (let i = 0; i < hashLength; i++) {
    hash += base32[Number(bits >> 59n)]
    bits = BigInt.asUintN(64, bits << 5n)
  }
  return hash
}
