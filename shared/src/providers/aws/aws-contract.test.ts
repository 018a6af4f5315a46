import { Ec2Fake, fakeCredentials } from '../../../testing/ec2/ec2-fake.ts'
import { describeProviderContract } from '../../../testing/provider-contract.ts'
import { systemClock } from '../../runtime/clock.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { noCloudMetrics } from '../cloud-metrics.ts'
import { createAwsProvider } from './aws-provider.ts'

const retryAfterSeconds = 2

describeProviderContract('aws', async () => {
  const fake = await Ec2Fake.start()
  const provider = await createAwsProvider({
    clock: systemClock,
    random: { next: () => 0.5 },
    logger: silentLogger,
    metrics: noCloudMetrics,
    budget: { profile: 'exclusive', share: 1 },
    expected: { readsToCome: () => 0, writesToCome: () => 0 },
    region: 'eu-west-1',
    endpoint: fake.url,
    credentials: fakeCredentials,
  })
  let disks = 0
  const id = (number: number) => `vol-${number.toString(16).padStart(17, '0')}`
  const actions = { read: ['DescribeVolumes'], write: ['CreateTags', 'DeleteTags'] }
  return {
    provider,
    clock: systemClock,
    throttleRetryAfterMs: retryAfterSeconds * 1000,
    addDisk: (tags = {}) => {
      const disk = { id: id(++disks) }
      fake.addVolume(disk.id, { tags })
      return disk
    },
    missingDisk: () => ({ id: id(0xdead) }),
    tagsOf: (disk) => fake.tagsOf(disk.id),
    setByHand: (disk, key, value) =>
      value === undefined ? fake.deleteTag(disk.id, key) : fake.setTag(disk.id, key, value),
    deny: (disk) => fake.deny([disk.id]),
    fill: (disk) => fake.fill(disk.id),
    failNext: (failure, call) => {
      const fault = {
        throttled: { kind: 'throttle', retryAfterSeconds } as const,
        unavailable: { kind: 'error', code: 'InternalError', status: 500 } as const,
        'lost-answer': { kind: 'lost-answer' } as const,
      }[failure]
      // A fault hits one kind of call; whichever comes first uses it up.
      const faults = actions[call].map((action) => fake.inject(fault, { action }))
      fake.onCall = ({ action }) => {
        if (actions[call].includes(action)) setImmediate(() => faults.forEach((each) => each.clear()))
      }
    },
    calls: () => Object.values(fake.counts()).reduce((sum, { calls }) => sum + calls, 0),
    stop: async () => {
      await provider.stop()
      await fake.close()
    },
  }
})
