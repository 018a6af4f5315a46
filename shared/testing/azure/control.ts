// How another process steers the fake, in JSON:
//
//   GET  /_fake/state?ids=/subscriptions/…,…   counts, calls in flight, disk count; tags and time of last change of those
//   GET  /_fake/calls?operation=MergeTags      the last calls
//   POST /_fake/disks    { add: [{ id, tags?, visibleAfterMs? }], remove: [id], count: n }  (that many, by numberedDiskId)
//   POST /_fake/tags     { id, set: { name: value }, remove: [name] }   by hand; makes the disk where there is none
//   POST /_fake/faults   { fault: { kind, … }, operation?, ids?, times?: n | "always" } and/or
//                        { clear: true, release: true, deny: [id], denyReads: [id], allow: [id], fill: [id],
//                          lock: [scope], unlock: [scope], lockDown: [group], latencyMs, buckets: bool, readLagMs,
//                          graphLagMs, adoptUnknown: bool, acceptWrites: bool, remaining: { header: value } }
//   POST /_fake/reset    forgets counts and calls
import { changeDisks, changeTags, statesOf, steeredBy, type DisksByHand } from '../cloud-fake/control.ts'
import type { AzureFake } from './azure-fake.ts'
import type { DiskOptions } from './disk-store.ts'

const subscription = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0'

/** Disks made by number, in the group that AKS makes for a cluster, or in another. */
export function numberedDiskId(number: number, group = 'MC_demo_aks_westeurope'): string {
  return `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Compute/disks/pvc-${number}`
}

/** Adds the numbered disks 1 to `count`, each with the tags that the CSI driver leaves. */
export function addNumberedDisks(fake: AzureFake, count: number, group?: string): void {
  for (let number = 1; number <= count; number++) {
    const tags = { 'k8s-azure-created-by': 'kubernetes-azure-dd', 'kubernetes.io-created-for-pv-name': `pvc-${number}` }
    fake.addDisk(numberedDiskId(number, group), { tags })
  }
}

export const controlRoute = steeredBy<AzureFake, Conditions>({
  callName: 'operation',
  state: (fake, ids) => ({ diskCount: fake.diskCount, disks: statesOf(ids, (id) => diskState(fake, id)) }),
  handlers: {
    'POST disks': (fake, body) => {
      changeDisks(byHand(fake), body)
      return { diskCount: fake.diskCount }
    },
    'POST tags': (fake, body) => diskState(fake, changeTags(byHand(fake), body)) ?? {},
  },
  setConditions(fake, conditions) {
    fake.deny(conditions.deny ?? [])
    fake.denyReads(conditions.denyReads ?? [])
    fake.allow(conditions.allow ?? [])
    fake.consistency(conditions)
    for (const id of conditions.fill ?? []) fake.fill(id)
    for (const scope of conditions.lock ?? []) fake.lock(scope)
    for (const scope of conditions.unlock ?? []) fake.unlock(scope)
    for (const group of conditions.lockDown ?? []) fake.lockDown(group)
    setServing(fake, conditions)
  },
})

interface Conditions {
  readonly deny?: readonly string[]
  readonly denyReads?: readonly string[]
  readonly allow?: readonly string[]
  readonly fill?: readonly string[]
  readonly lock?: readonly string[]
  readonly unlock?: readonly string[]
  readonly lockDown?: readonly string[]
  readonly buckets?: boolean
  readonly readLagMs?: number
  readonly graphLagMs?: number
  readonly adoptUnknown?: boolean
  readonly acceptWrites?: boolean
  readonly remaining?: Readonly<Record<string, string>>
}

/** What holds for every call, whatever its disk. */
function setServing(fake: AzureFake, conditions: Conditions): void {
  if (conditions.buckets !== undefined) fake.enforceBuckets(conditions.buckets)
  if (conditions.adoptUnknown !== undefined) fake.adoptUnknownDisks(conditions.adoptUnknown)
  if (conditions.acceptWrites !== undefined) fake.acceptWrites(conditions.acceptWrites)
  if (conditions.remaining !== undefined) fake.remaining(conditions.remaining)
}

function byHand(fake: AzureFake): DisksByHand<DiskOptions> {
  return {
    has: (id) => fake.hasDisk(id),
    add: (id, options) => fake.addDisk(id, options),
    remove: (id) => fake.removeDisk(id),
    addNumbered: (count) => addNumberedDisks(fake, count),
    set: (id, name, value) => fake.setTag(id, name, value),
    delete: (id, name) => fake.deleteTag(id, name),
  }
}

function diskState(fake: AzureFake, id: string): object | null {
  return fake.hasDisk(id) ? { tags: fake.tagsOf(id), changedAtMs: fake.changedAtMs(id) } : null
}
