/** 8 hexadecimal digits until 2016, 17 since. */
const volumeIdPattern = /^vol-[0-9a-f]{8,17}$/

export function isVolumeId(id: string): boolean {
  return volumeIdPattern.test(id)
}

export function volumeIdsIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/\bvol-[0-9a-f]{8,17}\b/g))
}
