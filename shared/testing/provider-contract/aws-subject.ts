import { createAwsProvider } from '../../src/providers/aws/aws-provider.ts'
import { Ec2Fake, fakeCredentials } from '../ec2/ec2-fake.ts'
import { providerDeps, steering, type CloudSubject, type CloudSubjectOptions } from './cloud-subject.ts'

const retryAfterSeconds = 2
const names = { read: ['DescribeVolumes'], write: ['CreateTags', 'DeleteTags'] }
const unknownCode = 'VolumeIsShyToday'

export async function startAws(options: CloudSubjectOptions = {}): Promise<CloudSubject & { readonly fake: Ec2Fake }> {
  const fake = await Ec2Fake.start()
  const deps = providerDeps(options)
  const provider = await createAwsProvider({
    ...deps,
    region: 'eu-west-1',
    endpoint: fake.url,
    credentials: fakeCredentials,
  })
  const steered = steering(fake, {
    names,
    scopeOf: (action, times) => ({ action, times }),
    nameOf: ({ action }) => action,
  })
  let disks = 0
  const id = (number: number) => `vol-${number.toString(16).padStart(17, '0')}`
  return {
    ...steered,
    fake,
    cloud: 'aws',
    provider,
    clock: deps.clock,
    unknownCode,
    throttleRetryAfterMs: retryAfterSeconds * 1000,
    source: (disk) => ({ kind: 'csi', driver: 'ebs.csi.aws.com', handle: disk.id }),
    addDisk: (tags = {}) => {
      const disk = { id: id(++disks) }
      fake.addVolume(disk.id, { tags })
      return disk
    },
    removeDisk: (disk) => fake.removeVolume(disk.id),
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
      const injected = steered.each(call, 1, (scope) => fake.inject(fault, scope))
      steered.beforeNext(call, () => setImmediate(() => injected.clear()))
    },
    refuseUnknown: (call, times = 1) =>
      steered.each(call, times, (scope) => fake.inject({ kind: 'error', code: unknownCode, status: 400 }, scope)),
    stop: async () => {
      await provider.stop()
      await fake.close()
    },
  }
}
