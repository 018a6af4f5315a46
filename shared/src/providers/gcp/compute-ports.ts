import { gcpDiskId, parseGcpDiskId, type GcpDiskName } from '../../claims/gcp-disk.ts'
import type { RefusalCodes } from '../isolation.ts'
import type { MeteredCalls } from '../metered.ts'
import type { ObservedTags } from '../provider.ts'
import { ProviderError } from '../provider-error.ts'
import type { ReadPort } from '../read-batcher.ts'
import type { ComputeOperation } from './budget-profiles.ts'
import type { ComputeApi, DiskFolder, DiskPage, DiskQuery, LabelSet } from './compute-api.ts'

export const getOperation = 'disks.get' satisfies ComputeOperation
export const listOperation = 'disks.list' satisfies ComputeOperation
export const writeOperation = 'disks.setLabels' satisfies ComputeOperation

export type ListDisks = (folder: DiskFolder, query: DiskQuery) => Promise<DiskPage>
export type SetLabels = (disk: GcpDiskName, set: LabelSet) => Promise<void>

// A call is about one disk: no other can be meant.
const codes: RefusalCodes = { isAboutTags: () => false, isUnexplained: () => false }

/** Reads one disk a call, which is all that Google offers for disks by name. */
export function readPort(api: ComputeApi, calls: MeteredCalls): ReadPort {
  return {
    name: getOperation,
    idsPerCall: 1,
    codes,
    read: async ([id]) => {
      const disk = id === undefined ? undefined : parseGcpDiskId(id)
      if (disk === undefined) throw new ProviderError('invalid', `${JSON.stringify(id)} is not the id of a Google disk`)
      const observed = await orMissing(calls.run(getOperation, 'read', (signal) => api.getDisk(disk, signal)))
      return new Map(observed === undefined ? [] : [[gcpDiskId(disk), observed]])
    },
  }
}

export function listDisks(api: ComputeApi, calls: MeteredCalls): ListDisks {
  return (folder, query) => calls.run(listOperation, 'read', (signal) => api.listDisks(folder, query, signal))
}

export function setLabels(api: ComputeApi, calls: MeteredCalls): SetLabels {
  return (disk, set) => calls.run(writeOperation, 'write', (signal) => api.setLabels(disk, set, signal))
}

/** Undefined in place of 'not-found'. */
export async function orMissing(read: Promise<ObservedTags>): Promise<ObservedTags | undefined> {
  try {
    return await read
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'not-found') return undefined
    throw error
  }
}
