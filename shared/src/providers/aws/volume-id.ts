import { ebsVolumeIdOf } from '../../claims/ebs-volume.ts'

/** CreateTags takes the id of any resource, so what is not a volume's must be refused here too. */
export function isVolumeId(id: string): boolean {
  return ebsVolumeIdOf(id) === id
}

export function volumeIdsIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/\bvol-[0-9a-z]{1,64}\b/g))
}
