import { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { ec2At } from '../../src/product.ts'
import { ebsDriver, ebsVolumeId } from '../../src/volumes.ts'
import { answerMs, plainEnvironment, type BenchCloud } from './bench-cloud.ts'
import { describeCounts, tallyOf, throttleEvery } from './tally.ts'

const isWrite = (action: string) => action === 'CreateTags' || action === 'DeleteTags'

export async function startAws(): Promise<BenchCloud> {
  const fake = await Ec2Fake.start({ latencyMs: answerMs, requireSignature: true })
  const product = ec2At(fake.url)
  return {
    name: 'aws',
    title: 'AWS',
    csiDriver: ebsDriver,
    product: { ...product, env: { ...plainEnvironment, ...product.env } },
    handleOf: ebsVolumeId,
    diskIdOf: (handle) => handle,
    addDisk: (handle, tags = {}) => fake.addVolume(handle, { tags: { 'ebs.csi.aws.com/cluster': 'true', ...tags } }),
    addForeignDisks(count) {
      for (let i = 0; i < count; i++) {
        const tags = { Name: `foreign-${i}`, 'ebs.csi.aws.com/cluster': 'true' }
        fake.addVolume(ebsVolumeId(`foreign-${i}`), { tags })
      }
    },
    tagsOf: (handle) => fake.tagsOf(handle),
    setTag: (handle, key, value) => fake.setTag(handle, key, value),
    changedAtMs: (handle) => fake.changedAtMs(handle),
    tally: () => tallyOf(fake.counts(), { isWrite }),
    describeCalls: () => describeCounts(fake.counts()),
    resetTally: () => fake.resetCounts(),
    enforceQuota: (on) => fake.enforceBuckets(on),
    throttleEvery: (n) => throttleEvery(fake, n, { isHit: ({ action }) => isWrite(action) }),
    hangNextWrite: (handle) => fake.inject({ kind: 'hang' }, { action: 'CreateTags', ids: [handle] }),
    close: () => fake.close(),
  }
}
