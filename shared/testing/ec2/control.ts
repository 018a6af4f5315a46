// How another process steers the fake, in JSON:
//
//   GET  /_fake/state?ids=vol-1,vol-2   counts, calls in flight, volume count; tags and time of last change of those volumes
//   GET  /_fake/calls?action=CreateTags the last calls
//   POST /_fake/volumes  { add: [{ id, tags?, managed?, visibleAfterMs?, tagsVisibleAfterMs? }], remove: [id],
//                          count: n }   (that many volumes with the ids of numberedVolumeId)
//   POST /_fake/tags     { id, set: { key: value }, remove: [key] }   by hand; makes the volume where there is none
//   POST /_fake/faults   { fault: { kind, … }, action?, ids?, times?: n | "always" } and/or
//                        { clear: true, release: true, deny: [id], allow: [id], fill: [id], latencyMs, buckets: bool,
//                          readLagMs, youngVolumeMs, adoptUnknown: bool, namesMissing: bool, namesDenied: bool }
//   POST /_fake/reset    forgets counts and calls
import { changeDisks, changeTags, statesOf, steeredBy, type DisksByHand } from '../cloud-fake/control.ts'
import type { Ec2Fake } from './ec2-fake.ts'
import type { VolumeOptions } from './volume-store.ts'

/** Volumes made by number: `vol-00000000000000001` and so on. */
export function numberedVolumeId(number: number): string {
  return `vol-${number.toString(16).padStart(17, '0')}`
}

/** Adds the numbered volumes 1 to `count`, each with the tags that a CSI driver leaves. */
export function addNumberedVolumes(fake: Ec2Fake, count: number, firstNumber = 1): void {
  for (let number = firstNumber; number < firstNumber + count; number++) {
    const tags = { CSIVolumeName: `pvc-${number}`, 'ebs.csi.aws.com/cluster': 'true' }
    fake.addVolume(numberedVolumeId(number), { tags })
  }
}

export const controlRoute = steeredBy<Ec2Fake, Conditions>({
  callName: 'action',
  state: (fake, ids) => ({ volumeCount: fake.volumeCount, volumes: statesOf(ids, (id) => volumeState(fake, id)) }),
  handlers: {
    'POST volumes': (fake, body) => {
      changeDisks(byHand(fake), body)
      return { volumeCount: fake.volumeCount }
    },
    'POST tags': (fake, body) => volumeState(fake, changeTags(byHand(fake), body)) ?? {},
  },
  setConditions(fake, conditions) {
    fake.deny(conditions.deny ?? [])
    fake.allow(conditions.allow ?? [])
    for (const id of conditions.fill ?? []) fake.fill(id)
    if (conditions.buckets !== undefined) fake.enforceBuckets(conditions.buckets)
    if (conditions.adoptUnknown !== undefined) fake.adoptUnknownVolumes(conditions.adoptUnknown)
    fake.consistency(conditions)
    fake.messages(conditions)
  },
})

interface Conditions {
  readonly deny?: readonly string[]
  readonly allow?: readonly string[]
  readonly fill?: readonly string[]
  readonly buckets?: boolean
  readonly readLagMs?: number
  readonly youngVolumeMs?: number
  readonly adoptUnknown?: boolean
  readonly namesMissing?: boolean
  readonly namesDenied?: boolean
}

function byHand(fake: Ec2Fake): DisksByHand<VolumeOptions> {
  return {
    has: (id) => fake.hasVolume(id),
    add: (id, options) => fake.addVolume(id, options),
    remove: (id) => fake.removeVolume(id),
    addNumbered: (count) => addNumberedVolumes(fake, count),
    set: (id, key, value) => fake.setTag(id, key, value),
    delete: (id, key) => fake.deleteTag(id, key),
  }
}

function volumeState(fake: Ec2Fake, id: string): object | null {
  return fake.hasVolume(id) ? { tags: fake.tagsOf(id), changedAtMs: fake.changedAtMs(id) } : null
}
