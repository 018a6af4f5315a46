import { createAzureProvider } from '../../src/providers/azure/azure-provider.ts'
import { AzureFake, fakeCredential } from '../azure/azure-fake.ts'
import { numberedDiskId } from '../azure/control.ts'
import { providerDeps, steering, type CloudSubject, type CloudSubjectOptions } from './cloud-subject.ts'

const retryAfterSeconds = 2
const names = { read: ['GetTags', 'QueryResources'], write: ['MergeTags', 'DeleteTags'] }
const unknownCode = 'DiskIsShyToday'

export async function startAzure(
  options: CloudSubjectOptions = {},
): Promise<CloudSubject & { readonly fake: AzureFake }> {
  const fake = await AzureFake.start()
  const deps = providerDeps(options)
  const provider = await createAzureProvider({
    ...deps,
    resourceManagerEndpoint: fake.url,
    credential: fakeCredential,
    // Here reads see writes at once, and nobody waits for what is known.
    quietAfterWriteMs: 0,
  })
  const steered = steering(fake, {
    names,
    scopeOf: (operation, times) => ({ operation, times }),
    nameOf: ({ operation }) => operation,
  })
  let disks = 0
  return {
    ...steered,
    fake,
    cloud: 'azure',
    provider,
    clock: deps.clock,
    unknownCode,
    throttleRetryAfterMs: retryAfterSeconds * 1000,
    source: (disk) => ({ kind: 'csi', driver: 'disk.csi.azure.com', handle: disk.id }),
    addDisk: (tags = {}) => {
      const id = numberedDiskId(++disks)
      fake.addDisk(id, { tags })
      return { id: id.toLowerCase() }
    },
    removeDisk: (disk) => fake.removeDisk(disk.id),
    missingDisk: () => ({ id: numberedDiskId(0xdead).toLowerCase() }),
    tagsOf: (disk) => fake.tagsOf(disk.id),
    setByHand: (disk, name, value) =>
      value === undefined ? fake.deleteTag(disk.id, name) : fake.setTag(disk.id, name, value),
    deny: (disk) => fake.deny([disk.id]),
    fill: (disk) => fake.fill(disk.id),
    failNext: (failure, call) => {
      const fault = {
        throttled: { kind: 'throttle', retryAfterSeconds } as const,
        unavailable: { kind: 'error', code: 'InternalServerError', status: 500 } as const,
        'lost-answer': { kind: 'lost-answer' } as const,
      }[failure]
      const injected = steered.each(call, 1, (scope) => fake.inject(fault, scope))
      steered.beforeNext(call, () => setImmediate(() => injected.clear()))
    },
    refuseUnknown: (call, times = 1) =>
      steered.each(call, times, (scope) => fake.inject({ kind: 'error', code: unknownCode, status: 418 }, scope)),
    stop: async () => {
      await provider.stop()
      await fake.close()
    },
  }
}
