import { invalid } from './wire.ts'

export const labelsPerDisk = 64

// As the PD CSI driver checks them before it asks: letters without case are letters too.
const keyPattern = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}0-9_-]{0,62}$/u
const valuePattern = /^[\p{Ll}\p{Lo}0-9_-]{0,63}$/u
const bytesMax = 128

/** One bad label fails the whole call. */
export function checkLabels(labels: ReadonlyMap<string, string>): void {
  for (const [key, value] of labels) {
    if (!keyPattern.test(key) || Buffer.byteLength(key) > bytesMax) throw broken('key', key)
    if (!valuePattern.test(value) || Buffer.byteLength(value) > bytesMax) throw broken('value', value)
  }
  if (labels.size > labelsPerDisk) {
    throw invalid(`Invalid value for field 'labels': a resource can have at most ${labelsPerDisk} labels.`)
  }
}

function broken(part: 'key' | 'value', text: string): Error {
  return invalid(
    `Invalid value for field 'labels': ''. Label ${part} '${text}' violates format constraints. ` +
      'It can only contain lowercase letters, numeric characters, underscores and dashes, at most 63 of them.',
  )
}
