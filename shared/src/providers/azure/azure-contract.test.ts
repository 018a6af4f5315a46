import { AzureFake, fakeCredential } from '../../../testing/azure/azure-fake.ts'
import { numberedDiskId } from '../../../testing/azure/control.ts'
import { describeProviderContract } from '../../../testing/provider-contract.ts'
import { systemClock } from '../../runtime/clock.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { noCloudMetrics } from '../cloud-metrics.ts'
import { createAzureProvider } from './azure-provider.ts'

const retryAfterSeconds = 2

describeProviderContract('azure', async () => {
  const fake = await AzureFake.start()
  const provider = await createAzureProvider({
    clock: systemClock,
    random: { next: () => 0.5 },
    logger: silentLogger,
    metrics: noCloudMetrics,
    budget: { profile: 'exclusive', share: 1 },
    resourceManagerEndpoint: fake.url,
    credential: fakeCredential,
    // Here reads see writes at once, and nobody waits for what is known.
    quietAfterWriteMs: 0,
  })
  let disks = 0
  const operations = { read: ['GetTags', 'QueryResources'], write: ['MergeTags', 'DeleteTags'] }
  return {
    provider,
    clock: systemClock,
    throttleRetryAfterMs: retryAfterSeconds * 1000,
    addDisk: (tags = {}) => {
      const id = numberedDiskId(++disks)
      fake.addDisk(id, { tags })
      return { id: id.toLowerCase() }
    },
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
      // A fault hits one kind of call; whichever comes first uses it up.
      const faults = operations[call].map((operation) => fake.inject(fault, { operation }))
      fake.onCall = ({ operation }) => {
        if (operations[call].includes(operation)) setImmediate(() => faults.forEach((each) => each.clear()))
      }
    },
    calls: () => Object.values(fake.counts()).reduce((sum, { calls }) => sum + calls, 0),
    stop: async () => {
      await provider.stop()
      await fake.close()
    },
  }
})
