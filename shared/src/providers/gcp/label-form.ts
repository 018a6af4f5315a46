import { createHash } from 'node:crypto'
import { base32Head } from '../../tags/base32.ts'
import { firstBytes, firstCodePoints } from '../../tags/cuts.ts'
import { goHabit, leavingOutRestricted, rustHabit } from '../../tags/earlier-tools.ts'
import type { TagShape } from '../../tags/normalized-tags.ts'
import type { TagForm } from '../../tags/tag-form.ts'

const charactersMax = 63
const bytesMax = 128
const hashLength = 8

const takes = 'Google takes a-z 0-9 _ -'
const tooLong = `Google takes ${charactersMax} characters`

/** How a Kubernetes label becomes one of Google's. */
export function labelShapeOf({ compatibility, allowedKeys }: TagForm): TagShape {
  switch (compatibility) {
    case 'none':
      return ownShape
    case 'rust-0.4':
      return rustShape
    case 'k8s-pvc-tagger':
      return leavingOutRestricted(goShape, (key) => allowedKeys.has(key))
    default:
      return compatibility satisfies never
  }
}

/** For people: lower case, and `_` for whatever Google does not take. */
const ownShape: TagShape = {
  key: readableKey,
  value: (value) => cut(legalCharacters(value)),
  spareKey: hashedKey,
}

/** ASCII only, `-` for the rest, cut. A key that begins with no letter was left out, and is: Google refuses it. */
const rustShape: TagShape = {
  key: lowerAscii,
  value: lowerAscii,
  habit: rustHabit,
  winner: 'last',
}

/**
 * Only keys were brought into form, and only as far as labels need it. Values were cut and otherwise left, so that one
 * with a capital letter or a dot cost the whole write. Lengths count bytes. Where labels met in one key the winner was
 * another with each pass; here it is the one that needed no change, then the first in order, as in our own form.
 */
const goShape: TagShape = {
  key: (label) => firstBytes(goKey(label), charactersMax) ?? { kind: 'invalid-key', why: tooLong },
  value: (value) => firstBytes(value, charactersMax) ?? { kind: 'invalid-value', why: tooLong },
  habit: goHabit,
}

/** Another key for this label, legal like the plain one, that no second label shares. */
export function hashedKey(plainKey: string, label: string): string {
  const digest = createHash('sha256').update(label, 'utf8').digest()
  return `${cut(plainKey, 1 + hashLength)}_${base32Head(digest, hashLength)}`
}

// Letters without case, as in Chinese or Arabic, are letters to Google.
const startsWithLetter = /^[\p{Ll}\p{Lo}]/u
const illegal = /[^\p{Ll}\p{Lo}0-9_-]/gu
const legal = /^[\p{Ll}\p{Lo}0-9_-]*$/u

/** Why Google would refuse all labels of a disk because of this key. */
export function keyFault(key: string): string | undefined {
  if (key === '') return 'a key needs a character'
  return /^\P{L}/u.test(key) ? 'begins with no letter' : valueFault(key)
}

/** Why Google would refuse all labels of a disk because of this value. */
export function valueFault(value: string): string | undefined {
  if (!legal.test(value)) return takes
  return cut(value) === value ? undefined : tooLong
}

function readableKey(label: string): string {
  const plain = legalCharacters(label)
  return cut(startsWithLetter.test(plain) || plain === '' ? plain : `l_${plain}`)
}

function legalCharacters(text: string): string {
  return text.toLowerCase().replaceAll(illegal, '_')
}

function lowerAscii(text: string): string {
  return firstCodePoints(text.toLowerCase().replaceAll(/[^a-z0-9_-]/gu, '-'), charactersMax)
}

function goKey(label: string): string {
  // What was cut may end in - or _; it would lose that when it is normalised again. No label of that length ends so.
  if (Buffer.byteLength(label) === charactersMax && keyFault(label) === undefined) return label
  return lowerLetters(label)
    .replaceAll('/', '_')
    .replaceAll('.', '-')
    .replace(/[-_]+$/, '')
}

/** Letter by letter, each into one: Go knows no rules for words. */
function lowerLetters(text: string): string {
  return Array.from(text, (letter) => Array.from(letter.toLowerCase())[0] ?? '').join('')
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
