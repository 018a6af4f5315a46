import type { RefusalCodes } from '../isolation.ts'
import type { MeteredCalls } from '../metered.ts'
import type { ReadPort } from '../read-batcher.ts'
import type { WritePort } from '../write-batcher.ts'
import type { Ec2Operation } from './budget-profiles.ts'
import type { Ec2Api } from './ec2-api.ts'
import { idsPerRead, idsPerWrite } from './ec2-limits.ts'
import { isAboutTags, isUnexplained, volumesNamedIn } from './errors.ts'
import { readVolumes } from './volume-reads.ts'

const codes: RefusalCodes = { isAboutTags, isUnexplained }
const describe = 'DescribeVolumes' satisfies Ec2Operation

export function readPort(api: Ec2Api, calls: MeteredCalls): ReadPort {
  return {
    name: describe,
    idsPerCall: idsPerRead,
    codes,
    read: (disks, pace) =>
      readVolumes(disks, (query) => calls.run(describe, 'read', (signal) => api.describeVolumes(query, signal)), pace),
  }
}

export function writePort(api: Ec2Api, calls: MeteredCalls): WritePort {
  const names = { set: 'CreateTags', remove: 'DeleteTags' } as const satisfies Record<string, Ec2Operation>
  return {
    names,
    idsPerCall: idsPerWrite,
    codes,
    namedIn: volumesNamedIn,
    send: (operation, pairs, disks) =>
      calls.run(names[operation], 'write', (signal) =>
        operation === 'set' ? api.createTags(disks, pairs, signal) : api.deleteTags(disks, pairs, signal),
      ),
  }
}
