// How another process steers the fake, in JSON:
//
//   GET  /_fake/state?ids=…,…           counts, calls in flight, disk count; labels and time of last change of those disks
//   GET  /_fake/calls?operation=…       the last calls
//   POST /_fake/disks    { add: [{ id, labels?, visibleAfterMs? }], remove: [id],
//                          count: n }   (that many disks with the ids of numberedDiskId)
//   POST /_fake/labels   { id, set: { key: value }, remove: [key] }   by hand; makes the disk where there is none
//   POST /_fake/faults   { fault: { kind, … }, operation?, ids?, times?: n | "always" } and/or
//                        { clear: true, release: true, deny: [id], allow: [id], fill: [id], latencyMs, quota: bool,
//                          operationsLastMs, adoptUnknown: bool, errorDetails: bool, metadataIsDown: bool }
//   POST /_fake/reset    forgets counts and calls
import { changeDisks, changeTags, statesOf, steeredBy, type DisksByHand } from '../cloud-fake/control.ts'
import type { DiskOptions } from './disk-store.ts'
import type { GcpFake } from './gcp-fake.ts'

export interface DiskFolder {
  readonly project: string
  /** Every third disk is a regional one, of this zone's region. */
  readonly zone: string
}

const defaultFolder: DiskFolder = { project: 'fake-project', zone: 'europe-west4-a' }

/** Disks made by number: `projects/fake-project/zones/europe-west4-a/disks/pvc-0000001` and so on. */
export function numberedDiskId(number: number, { project, zone }: DiskFolder = defaultFolder): string {
  const place = number % 3 === 0 ? `regions/${zone.slice(0, zone.lastIndexOf('-'))}` : `zones/${zone}`
  return `projects/${project}/${place}/disks/pvc-${String(number).padStart(7, '0')}`
}

/** Adds the numbered disks 1 to `count`, each with the labels that a GKE cluster leaves. */
export function addNumberedDisks(
  fake: GcpFake,
  count: number,
  { cluster = 'demo', firstNumber = 1, folder = defaultFolder }: NumberedDisks = {},
): void {
  for (let number = firstNumber; number < firstNumber + count; number++) {
    const labels = { 'goog-gke-volume': '', 'goog-k8s-cluster-name': cluster }
    fake.addDisk(numberedDiskId(number, folder), { labels })
  }
}

export interface NumberedDisks {
  readonly cluster?: string
  readonly firstNumber?: number
  readonly folder?: DiskFolder
}

export const controlRoute = steeredBy<GcpFake, Conditions>({
  callName: 'operation',
  state: (fake, ids) => ({
    identity: fake.identity.counts,
    diskCount: fake.diskCount,
    disks: statesOf(ids, (id) => diskState(fake, id)),
  }),
  handlers: {
    'POST disks': (fake, body) => {
      changeDisks(byHand(fake), body)
      return { diskCount: fake.diskCount }
    },
    'POST labels': (fake, body) => diskState(fake, changeTags(byHand(fake), body)) ?? {},
  },
  setConditions(fake, conditions) {
    fake.deny(conditions.deny ?? [])
    fake.allow(conditions.allow ?? [])
    for (const id of conditions.fill ?? []) fake.fill(id)
    if (conditions.quota !== undefined) fake.enforceQuota(conditions.quota)
    if (conditions.operationsLastMs !== undefined) fake.operationsLast(conditions.operationsLastMs)
    if (conditions.adoptUnknown !== undefined) fake.adoptUnknownDisks(conditions.adoptUnknown)
    if (conditions.errorDetails !== undefined) fake.errorDetails = conditions.errorDetails
    if (conditions.metadataIsDown !== undefined) fake.identity.metadataIsDown = conditions.metadataIsDown
  },
})

interface Conditions {
  readonly deny?: readonly string[]
  readonly allow?: readonly string[]
  readonly fill?: readonly string[]
  readonly quota?: boolean
  readonly operationsLastMs?: number
  readonly adoptUnknown?: boolean
  readonly errorDetails?: boolean
  readonly metadataIsDown?: boolean
}

function byHand(fake: GcpFake): DisksByHand<DiskOptions> {
  return {
    has: (id) => fake.hasDisk(id),
    add: (id, options) => fake.addDisk(id, options),
    remove: (id) => fake.removeDisk(id),
    addNumbered: (count) => addNumberedDisks(fake, count),
    set: (id, key, value) => fake.setLabel(id, key, value),
    delete: (id, key) => fake.deleteLabel(id, key),
  }
}

function diskState(fake: GcpFake, id: string): object | null {
  return fake.hasDisk(id) ? { labels: fake.labelsOf(id), changedAtMs: fake.changedAtMs(id) } : null
}
