import type { RefusalCodes } from '../isolation.ts'
import type { ObservedTags } from '../provider.ts'
import type { ReadPort } from '../read-batcher.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import type { ArmApi, GraphPage, GraphQuery, TagPatch } from './arm-api.ts'
import type { ArmOperation, GraphOperation } from './budget-profiles.ts'
import type { QuotaWatch } from './quota-watch.ts'

export const readOperation = 'GetTags' satisfies ArmOperation
export const writeOperation = 'UpdateTags' satisfies ArmOperation
export const graphOperation = 'QueryResources' satisfies GraphOperation

/** A call is about one disk: there is nobody to be told apart. */
const codes: RefusalCodes = { isAboutTags: () => false, isUnexplained: () => false }

/** One disk's tags, as its own resource provider has them. */
export type ReadDisk = (disk: string) => Promise<ObservedTags>

export type PatchDisk = (disk: string, operation: TagPatch, tags: TagSet) => Promise<'done' | 'accepted'>

export type QueryGraph = (query: GraphQuery) => Promise<GraphPage>

export function readDisk(api: ArmApi, calls: QuotaWatch): ReadDisk {
  return async (disk) => ({ tags: await calls.run(readOperation, 'read', (signal) => api.readTags(disk, signal)) })
}

export function readPort(read: ReadDisk): ReadPort {
  return {
    name: readOperation,
    idsPerCall: 1,
    codes,
    async read(disks, pace) {
      const found = new Map<string, ObservedTags>()
      for (const disk of disks) {
        if (found.size > 0) await pace()
        found.set(disk, await read(disk))
      }
      return found
    },
  }
}

export function patchDisk(api: ArmApi, calls: QuotaWatch): PatchDisk {
  return (disk, operation, tags) =>
    calls.run(writeOperation, 'write', (signal) => api.patchTags(disk, { operation, tags }, signal))
}

export function queryGraph(api: ArmApi, calls: QuotaWatch): QueryGraph {
  return (query) => calls.run(graphOperation, 'read', (signal) => api.queryDisks(query, signal))
}
